"""The language server: answers what an editor asks about its open texts. Only the command `servelint lsp` imports it.

`server`, `features`, `transport`, `documents`, `diagnostics` and `settings` know the protocol. The other modules know texts and
offsets only.
"""
