"""Parse an argv as a release's own parser does: by argparse's rules over the catalog's options, or by the engine's dialect.

The rules of argparse are those of Python 3.10 to 3.12, which the engines' images have: unique prefixes, `--a=b`, nargs,
negative numbers, `--`. A word whose text is not known never causes a fault.
"""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import HOLE, TracedText
from servelint.engines.catalog import APPEND, FLAG, LIST, OPTIONAL, Option, Table
from servelint.engines.registry import Dialect, Launcher
from servelint.engines.releases import sort_key
from servelint.syntax.shell.words import split

_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")


class Setting:
    """One option as a launch sets it.

    Attributes:
        name: the option's canonical name; for a JSON path (`--a.b v`) with the path: "a.b".
        option: the option as the release declares it; None if the release lacks it.
        word: the word that names the option.
        spelling: the option as the parser understood it, with prefixes completed.
        on: what a flag or toggle sets; None for an option that takes a value.
        value: the text of the value, None if none is given.
        value_word: the word that holds the value.
        values: the words of all values of a list.
        declared: the spelling under which the release declares the option; "" if it lacks it.
    """

    __slots__ = ("declared", "name", "on", "option", "spelling", "value", "value_word", "values", "word")

    def __init__(
        self, name: str, option: Option | None, word: Word, spelling: str, on: bool | None, declared: str = ""
    ) -> None:
        self.name = name
        self.option = option
        self.declared = declared if option is not None else ""
        self.word = word
        self.spelling = spelling
        self.on = on
        self.value: TracedText | None = None
        self.value_word: Word | None = None
        self.values: list[Word] = []

    def of(self, option: Option | None) -> Setting:
        """The same setting of another release's option."""
        new = Setting(self.name, option, self.word, self.spelling, self.on, self.declared)
        new.value, new.value_word, new.values = self.value, self.value_word, self.values
        return new

    def give(self, text: TracedText, word: Word) -> None:
        """Set the value, and the word that holds it."""
        self.value, self.value_word = text, word

    @property
    def words(self) -> list[Word]:
        """The word that names the option, and those of its value."""
        values = self.values or ([self.value_word] if self.value_word is not None else [])
        return [self.word, *[word for word in values if word is not self.word]]


class Fault:
    """Something that the release's parser refuses in an argv, or takes for something else.

    Attributes:
        kind: what is refused: "unknown-option", "ambiguous-option", "missing-value", "unexpected-value", "unexpected-argument",
            "one-word", "missing-argument", "exclusive", "given-twice", "stray-path" or "config-file"; or what is taken:
            "abbreviated-option", "ignored-model" or "ignored-option".
        word: the word at fault; None for a missing one.
        spelling: the option as written.
        names: the options that it may stand for, or conflicts with; for "config-file" the reason.
        setting: the option at fault, if it is one that the launch sets.
        span: the characters to point at.
    """

    __slots__ = ("kind", "names", "setting", "span", "spelling", "word")

    def __init__(
        self, kind: str, word: Word | None, spelling: str, names: list[str] | None = None, setting: Setting | None = None
    ) -> None:
        self.kind = kind
        self.word = word
        self.spelling = spelling
        self.names = names or []
        self.setting = setting
        self.span: Span | None = head_of(word) if word is not None else None

    @property
    def fatal(self) -> bool:
        """Whether the parser refuses the argv."""
        return self.kind not in ("abbreviated-option", "ignored-model", "ignored-option")

    def about(self, setting: Setting) -> Fault:
        """The same fault of the same option in another release."""
        new = Fault(self.kind, None, self.spelling, self.names, setting)
        new.word, new.span = self.word, self.span
        return new

    def __repr__(self) -> str:
        return f"Fault({self.kind} {self.spelling!r} {self.names})"


class Arguments:
    """An argv as a parser reads it.

    Attributes:
        settings: canonical name -> the last setting of the option, which is the one that counts.
        every: all settings in the order of the argv.
        of_launcher: the options of the program that starts the engine, by their name.
        positionals: the words that are neither options nor values of one.
        possible: names of options that an unknown word may be, or that the launcher may set.
        complete: False if an unknown word may be any option.
        faults: what the parser refuses or reinterprets, in the order of the argv.
        takes_model: whether the server uses a positional model; None if that is not known.
    """

    __slots__ = ("complete", "every", "faults", "of_launcher", "positionals", "possible", "settings", "takes_model")

    def __init__(self) -> None:
        self.settings: dict[str, Setting] = {}
        self.every: list[Setting] = []
        self.of_launcher: dict[str, Setting] = {}
        self.positionals: list[Word] = []
        self.possible: set[str] = set()
        self.complete = True
        self.faults: list[Fault] = []
        self.takes_model: bool | None = True

    def rebound(self, table: Table) -> Arguments | None:
        """The same arguments with the options of another release; None if its parser does not read them alike."""
        made: dict[int, Setting] = {}
        for setting in self.every:
            option = table.find(setting.declared) if setting.declared else None
            if setting.option is not None and (option is None or option.shape != setting.option.shape):
                return None
            made[id(setting)] = setting.of(option)
        new = Arguments()
        new.every = list(made.values())
        new.settings = {name: made[id(setting)] for name, setting in self.settings.items()}
        new.possible, new.of_launcher = set(self.possible), self.of_launcher
        new.positionals, new.complete, new.takes_model = self.positionals, self.complete, self.takes_model
        new.faults = [fault if fault.setting is None else fault.about(made[id(fault.setting)]) for fault in self.faults]
        return new


def head_of(word: Word) -> Span | None:
    """The characters of a word that name its option: those before an equals sign."""
    flat = word.text.flat
    end = len(flat.partition("=")[0]) if flat.startswith("-") else None
    return word.text.span(0, end) or word.site


def read(
    argv: list[Word],
    table: Table | None,
    dialect: Dialect,
    *,
    fragment: bool = False,
    takes_model: bool | None = True,
    launcher: Launcher | None = None,
) -> Arguments:
    """Parse the words after an engine's verb.

    Args:
        argv: the words.
        table: the options of a release; without one, every option takes the words up to the next option.
        dialect: what the engine's parser does differently from argparse.
        fragment: whether the argv is only a part of the one that the server gets.
        takes_model: whether the server uses a positional model; None if that is not known.
        launcher: the program that reads the options, if it is not the engine's own.

    Returns:
        The settings, positional arguments and faults.
    """
    parser = _Parser(argv, table, dialect, launcher)
    parser.result.takes_model = takes_model
    parser.result.complete = not fragment and (launcher is None or launcher.plain)
    parser.result.possible |= launcher.sets if launcher is not None else frozenset()
    parser.run()
    if launcher is not None:
        # what it makes of other words is not known
        kept = ("missing-value", "unexpected-value", "ignored-option", "lacked-option")
        parser.result.faults = [fault for fault in parser.result.faults if fault.kind in kept or parser.refuses(fault)]
    return parser.result


class _Parser:
    """One pass over an argv."""

    def __init__(self, argv: list[Word], table: Table | None, dialect: Dialect, launcher: Launcher | None = None) -> None:
        self.argv = argv
        self.launcher = launcher
        self.exact = launcher is not None and launcher.ignores
        self.table = table
        self.dialect = dialect
        self.result = Arguments()
        self.only_arguments = False
        self.unsure = False  # whether an unknown word stands before, which may be an option that takes what follows
        self.sure_of_first = True  # whether the first positional is one, and no value of an unknown option
        self.taken = 0  # the places of positional arguments that are surely taken
        self.asked = -1  # where an unknown word counts for a positional argument
        self.counted = False  # whether that one was added to those that are taken
        self.places = self._places()

    def _places(self) -> float:
        """How many positional arguments there may be."""
        if self.table is None:
            return 1 if self.dialect.positional else 0
        declared = self.table.catalog.positionals(self.table.index)
        return sum([float("inf") if one.get("nargs") in ("*", "+") else 1 for one in declared])

    def run(self) -> None:
        at = 0
        while at < len(self.argv):
            word = self.argv[at]
            flat = word.text.flat
            if word.many and not flat:
                at += 1
            elif word.many:
                self._perhaps(word)
                self.unsure = True
                at += 1
            elif flat == "--" and not self.only_arguments:
                self.only_arguments = True
                at += 1
            elif self.launcher is not None and self.launcher.calls:
                at = self._keyword(at)
            elif self.dialect.json_paths and self._is_stray_path(flat):
                self.result.faults.append(Fault("stray-path", word, flat))
                self.unsure = True
                at += 1
            elif self.is_option(word):
                self.unsure = False
                at = self._option(at)
            else:
                self._argument(at)
                at += 1
        if self.result.positionals and self.result.takes_model is False:
            word = self.result.positionals[0]
            if word.text.known and self.sure_of_first:
                self.result.faults.append(Fault("ignored-model", word, word.text.flat))
        named = self.result.settings.get("config")
        nested = named is not None and named.option is not None and named.option.json
        if not nested and any(one.word.value == "--config" for one in self.result.every):
            self.result.complete = False  # options may stand in the file that it names; `--config=FILE` is not opened
        self._missing()
        self._exclusive()

    # -- what a word is

    def spelled(self, flat: str) -> str:
        """The option part of a word as the parser compares it."""
        head = flat.partition("=")[0] if self.dialect.equals else flat
        if self.dialect.underscores and head.startswith("--") and not self.exact:
            name, dot, path = head.partition(".") if self.dialect.json_paths else (head, "", "")
            head = name.replace("_", "-") + dot + path
        return head

    def is_option(self, word: Word) -> bool:
        """Whether the parser takes a word for an option: its own spelling, a prefix, or a dash in front and no white space."""
        flat = word.text.flat
        if self.only_arguments or len(flat) < 2 or flat[0] != "-":
            return False
        spelling = self.spelled(flat)
        if self._declared(spelling) is not None or self._matches(spelling):
            return True
        # clap takes no negative number for a value
        return self.dialect.once or (_NUMBER.match(flat) is None and (" " not in flat or HOLE in spelling))

    def _is_stray_path(self, flat: str) -> bool:
        """Whether the parser takes a word that is not an option for a key of a JSON option: `-0.5`, `--dtype auto.x`.

        FlexibleArgumentParser does so with every word that starts with a dash (in LMDeploy two) and has a dot before any
        equals sign.
        """
        head = flat.partition("=")[0]
        starts = flat.startswith(self.dialect.json_paths)
        if self.only_arguments or self.table is None or not starts or "." not in head or HOLE in head or head[:2] == "-O":
            return False
        spelling = self.spelled(head).partition(".")[0]
        return self._declared(spelling) is None and (" " in spelling or re.fullmatch(r"-\d*", spelling) is not None)

    def _declared(self, spelling: str) -> Option | None:
        return self.table.find(spelling) if self.table is not None else None

    def _matches(self, spelling: str) -> list[str]:
        """The spellings that an abbreviated one may stand for."""
        if self.table is None or HOLE in spelling:
            return []
        if not self.dialect.abbreviations:
            head = spelling[:2] if self.dialect.attached and spelling[:2] != "--" and len(spelling) > 2 else ""
            return [head] if head and self._declared(head) is not None else []
        if self.dialect.json_paths:
            spelling = spelling.partition(".")[0]
            if self._declared(spelling) is not None:
                return [spelling]
        if spelling.startswith("--"):
            return self.table.starting(spelling)
        short = [spelling[:2]] if len(spelling) > 2 and self._declared(spelling[:2]) is not None else []
        return short + [match for match in self.table.starting(spelling) if match not in short]

    # -- words

    def _argument(self, at: int) -> None:
        word, flat = self.argv[at], self.argv[at].text.flat
        behind = self.asked == at - 1 != -1
        if behind:
            self.taken -= self.counted  # with a word behind it, the unknown may be an option and this its value
        sure = not self.unsure  # else it may be the value of an option that an unknown word is, whether it is known or not
        self.unsure = self.unsure or flat.startswith(HOLE)
        full = self.taken >= self.places
        if flat.startswith(HOLE) and (full or behind):
            self.result.complete = False  # it may be an option as well
            return
        written = flat.lstrip()  # a backslash that stays in front of a blank makes " --option" of it
        spelling = self.spelled(written.partition(" ")[0])
        meant = self._declared(spelling) if " " in flat and written[:1] == "-" and not self.only_arguments else None
        one_word = meant is not None and written == flat
        self.result.possible |= {meant.name} if meant is not None else set()
        if (full or one_word) and self.table is not None and not self.unsure:
            kind = "one-word" if one_word else "unexpected-argument"
            self.result.faults.append(Fault(kind, word, spelling if kind == "one-word" else flat))
        if not self.result.positionals:
            self.sure_of_first = not self.unsure
        self.asked = at if flat.startswith(HOLE) else -1
        self.counted = sure
        self.taken += sure
        self.result.positionals.append(word)

    def _perhaps(self, word: Word) -> None:
        """An expansion that may yield nothing, one word or several: what options it may add."""
        piece = word.text.pieces[0]
        if len(word.text.pieces) > 1 or piece.perhaps is None:
            self.result.complete = False
            return
        for option in split(piece.perhaps):
            spelling = self.spelled(option.text.flat)
            if spelling.startswith(HOLE):
                self.result.complete = False
            elif spelling.startswith("-"):
                found = self._declared(spelling) or self._declared(spelling.partition(".")[0])
                self.result.possible |= {found.name if found is not None else spelling.lstrip("-")}

    def _keyword(self, at: int) -> int:
        """A keyword argument of a class: its name, and the words of its value; none where it is True or False."""
        launcher, word = self.launcher, self.argv[at]
        end = at + 1
        while end < len(self.argv) and not self.argv[end].many and not self.argv[end].text.flat.startswith("--"):
            end += 1
        spelling, values = self.spelled(word.text.flat), self.argv[at + 1 : end]
        if launcher is None or HOLE in spelling or not spelling.startswith("--"):
            self.result.complete = False
            return end
        off = spelling.startswith("--no-")
        name = spelling[5 if off else 2 :]
        spelling = "--" + name
        since, until = launcher.refuses_since.get(name), launcher.takes_until.get(name)
        if name in launcher.own:
            return end
        option = self._declared(spelling)
        if option is None and until is not None and not self._at_least(until):
            return end
        if name in launcher.lacks or (
            option is not None and (spelling not in option.names or (since and self._at_least(since)))
        ):
            if self._at_least(launcher.known_since):
                self.result.faults.append(Fault("lacked-option", word, spelling))
            return end
        if option is None:
            self.result.faults.append(Fault("unknown-option", word, spelling))
        known = option if option is not None else self._of_another_release(spelling)
        setting = Setting(known.name if known is not None else name, option, word, spelling, None, spelling)
        if known is not None and not known.takes_value:
            if values:  # True or False, which is not known
                self.result.possible.add(known.name)
                return end
            on = known.polarity(spelling)
            if off and known.kind == FLAG:
                return end  # as if it were not given
            setting.on = on is not off
        elif values:
            setting.values = values
            setting.give(values[0].text, values[0])
        else:
            setting.give(TracedText.of("False" if off else "True", word.site), word)
        self.result.settings[setting.name] = setting
        self.result.every.append(setting)
        return end

    def _of_launcher(self, at: int, name: str, switch: bool, several: bool) -> int:
        """An option of the program that starts the engine."""
        word = self.argv[at]
        given = Setting(name, None, word, "--" + name, True if switch else None)
        self.result.of_launcher[name] = given
        end = word.text.flat.find("=") + 1
        if end:
            given.give(word.text.cut(end), word)
        elif not switch and at + 1 < len(self.argv) and not self.is_option(self.argv[at + 1]):
            given.give(self.argv[at + 1].text, self.argv[at + 1])
            at += 1
            while several and at + 1 < len(self.argv) and not self.is_option(self.argv[at + 1]):
                at += 1
        return at + 1

    def _option(self, at: int) -> int:
        word = self.argv[at]
        flat = word.text.flat
        level = self.dialect.json_paths == "-" and flat.startswith("-O") and (len(flat) > 2 or self._declared("-O") is None)
        if level and not (self.dialect.level_paths and flat[2:3] == "."):
            return self._level(at)
        spelling = self.spelled(flat)
        if HOLE in spelling:
            self.result.complete = False
            self.unsure = True
            return at + 1
        lacking = False
        if self.launcher is not None:
            plain = spelling.lstrip("-").replace("_", "-")
            if self.exact and spelling[2:] not in self.launcher.declared:
                plain = ""
            own = plain if plain in self.launcher.own else plain.partition(".")[0]  # Dynamo: --trtllm.kv_cache_config.dtype
            if own in self.launcher.own:
                return self._of_launcher(at, own, own in self.launcher.switches, own in self.launcher.lists)
            if plain in self.launcher.same:
                spelling = "--" + self.launcher.same[plain]
            lacking = plain in self.launcher.lacks
        with_paths = self.dialect.json_paths and spelling.startswith(self.dialect.json_paths)
        head, dot, path = spelling.partition(".") if with_paths else (spelling, "", "")
        option, declared = None if lacking else self._declared(spelling), spelling
        if lacking:
            self.result.faults.append(Fault("lacked-option", word, spelling))
        elif option is None and dot:
            declared = "--compilation-config" if head == "-O" else head
            option = self._declared(declared)
        if option is None and not lacking:
            matches = self._matches(spelling)
            options = (
                {line for match in matches if (line := self.table.line(match)) is not None} if self.table is not None else set()
            )
            if len(matches) == 1 and len(matches[0]) == 2 and not dot:
                return self._short(at, matches[0])
            if len(matches) == 1:
                option, declared = self._declared(matches[0]), matches[0]
                self.result.faults.append(Fault("abbreviated-option", word, spelling, matches))
                head = spelling = matches[0]
            elif matches:
                # argparse counts spellings, not options: two of one option are ambiguous as well
                self.result.faults.append(Fault("ambiguous-option", word, spelling, matches))
                self.result.possible |= {self.table.catalog.option(line).name for line in options} if self.table else set()
            elif self.table is not None:
                shortened = self.launcher is not None and any(one.startswith(spelling[2:]) for one in self.launcher.declared)
                kind = "unknown-option" if shortened or not self.exact else "ignored-option"
                meant = self._declared(spelling.partition(" ")[0])
                if meant is not None and not self.dialect.abbreviations:
                    kind, spelling = "one-word", spelling.partition(" ")[0]
                    self.result.possible.add(meant.name)
                self.result.faults.append(Fault(kind, word, spelling))
        known = option if option is not None else self._of_another_release(head)
        name = known.name if known is not None else head.lstrip("-")
        name = f"{name}.{path.rstrip('+')}" if dot else name
        on = known.polarity(head) if known is not None and not dot else None
        setting = Setting(name, option, word, spelling, on, declared)
        self.result.settings[name] = setting
        self.result.every.append(setting)
        if "=" in flat and self.dialect.equals:
            value = word.text.cut(flat.index("=") + 1)
            setting.give(value, word)
            setting.values = [word]
            if option is not None and not option.takes_value and not dot:
                self.result.faults.append(Fault("unexpected-value", word, spelling, setting=setting))
            if option is not None and option.kind == LIST and isinstance(option.nargs, int) and option.nargs > 1 and not dot:
                self.result.faults.append(Fault("missing-value", word, spelling, setting=setting))
            return at + 1
        at = self._values(at + 1, setting, known, path=bool(dot))
        self.unsure = known is None  # more words may be values of an option that no release has
        return at

    def _short(self, at: int, spelling: str) -> int:
        """A short option with its value in one word: `-p8000`, `-p=8000`."""
        word = self.argv[at]
        option = self._declared(spelling)
        on = option.polarity(spelling) if option is not None else None
        setting = Setting(option.name if option is not None else spelling, option, word, spelling, on, spelling)
        self.result.settings[setting.name] = setting
        self.result.every.append(setting)
        setting.give(word.text.cut(3 if word.text.flat[2] == "=" else 2), word)
        setting.values = [word]
        if option is not None and not option.takes_value:
            self.result.faults.append(Fault("unexpected-value", word, spelling, setting=setting))
        return at + 1

    def _level(self, at: int) -> int:
        """Parse `-O3`, `-O=3` and `-O 3` of vLLM: the optimization level, or before 0.12 the mode of the compilation config."""
        word, flat = self.argv[at], self.argv[at].text.flat
        level = self._declared("--optimization-level")
        known, declared = (level, "--optimization-level") if level is not None else (self._declared("-O"), "-O")
        setting = Setting(known.name if known is not None else "optimization-level", known, word, "-O", None, declared)
        self.result.settings[setting.name] = setting
        self.result.every.append(setting)
        if len(flat) == 2:
            return self._values(at + 1, setting, known, path=False)
        if known is not None and known is not level:
            setting.name = self.result.every[-1].name = f"{known.name}.mode"
            self.result.settings[setting.name] = self.result.settings.pop(known.name)
        start = 3 if flat[2] == "=" else 2
        setting.give(word.text.cut(start), word)
        setting.values = [word]
        return at + 1

    def refuses(self, fault: Fault) -> bool:
        """Whether a program that starts the engine refuses an option for the engine: one of other releases alone."""
        if self.launcher is None or not self.launcher.strict or fault.kind != "unknown-option":
            return False
        if self.launcher.calls:
            return self._at_least(self.launcher.known_since)
        return self._of_another_release(fault.spelling) is not None

    def _at_least(self, release: str) -> bool:
        return self.table is not None and sort_key(self.table.catalog.releases[self.table.index]) >= sort_key(release)

    def _of_another_release(self, spelling: str) -> Option | None:
        """The option as the newest release that has it declares it; it says how many words the option takes."""
        if self.table is None:
            return None
        runs = self.table.catalog.spelled(spelling)
        return runs[-1][2] if runs else None

    def _values(self, at: int, setting: Setting, option: Option | None, *, path: bool) -> int:
        """Take the words that are an option's value."""
        if option is not None and not option.takes_value and not path:
            return at
        limit, least = (1, 1) if option is not None else (1, 0)
        if option is not None and not path:
            if option.kind == OPTIONAL:
                least = 0
            elif option.kind == LIST:
                limit = option.nargs if isinstance(option.nargs, int) else len(self.argv)
                least = option.nargs if isinstance(option.nargs, int) else 0 if option.nargs == "*" else 1
        elif path and at < len(self.argv):
            setting.give(self.argv[at].text, self.argv[at])  # whatever it looks like
            return at + 1
        elif self.table is None:
            limit = len(self.argv)
        start = at
        unsure, sure_of_all = False, True
        while at < len(self.argv) and at - start < limit:
            word = self.argv[at]
            if word.many and not word.text.flat:
                unsure = True
                at += 1
                start += 1
                continue
            if word.many and (option is None or limit > 1 or least == 0):
                unsure = True
                break
            stops = word.text.flat == "--" or (self.is_option(word) and not word.many)
            stops = stops or (bool(self.dialect.json_paths) and not word.many and self._is_stray_path(word.text.flat))
            if stops and not (self.dialect.next_word and option is not None and at - start < least):
                break
            unsure = unsure or word.many
            if sure_of_all:
                setting.values.append(word)
            at += 1
            # the value of an option that is declared, if it takes any, is the first word: `--hf-token "$TOKEN"`
            sure = 0 if option is None and self.table is not None else max(least, 1)
            if word.text.flat.startswith(HOLE) and at - start > sure:
                # where no more values have to follow it may be an option, and what stands behind it the value of that
                self.result.complete = False
                sure_of_all = self.table is None
        if setting.values:
            setting.give(setting.values[0].text, setting.values[0])
        if len(setting.values) < least and not unsure and setting.option is not None:
            self.result.faults.append(Fault("missing-value", setting.word, setting.spelling, setting=setting))
        return at

    # -- the whole

    def _missing(self) -> None:
        if self.table is None or not self.result.complete or any(word.many and not word.text.flat for word in self.argv):
            return  # an empty default stands for what is missing
        for option in self.table.required():
            if option.name not in self.result.settings and option.name not in self.result.possible:
                self.result.faults.append(Fault("missing-argument", None, option.names[0], [option.name]))
        declared = self.table.catalog.positionals(self.table.index)
        needed = [one for one in declared if one.get("kind", "value") == "value" or one.get("nargs") == "+"]
        if len(self.result.positionals) < len(needed) and self.result.takes_model:
            self.result.faults.append(Fault("missing-argument", None, needed[-1]["name"], [needed[-1]["name"]]))

    def _exclusive(self) -> None:
        seen: dict[str, Setting] = {}
        given: dict[str, Setting] = {}
        for setting in self.result.every:
            if self.dialect.once and setting.option is not None and setting.option.kind != APPEND:
                before = given.setdefault(setting.name, setting)
                if before is not setting:
                    self.result.faults.append(Fault("given-twice", setting.word, setting.spelling, [before.spelling], before))
            group = setting.option.exclusive if setting.option is not None else ""
            if group and group in seen and seen[group].name != setting.name:
                self.result.faults.append(Fault("exclusive", setting.word, setting.spelling, [seen[group].spelling], setting))
            elif group:
                seen[group] = setting
