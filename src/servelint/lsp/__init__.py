"""The language server: what an editor asks of the texts that are open in it. Nothing else imports it.

What knows the protocol is `server` and what it calls to answer; what a position of a text means is told by modules that know
texts and offsets only.
"""
