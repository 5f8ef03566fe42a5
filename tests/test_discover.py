"""Which files a check reads, and what it makes of those that it cannot read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from servelint.core import bounds
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.lint import check
from servelint.readers.discover import ZERO_BYTES, decode, files, may_start, read_file
from tests.launching import shown

SCRIPT = b"vllm serve m\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*paths: str, content: bytes = SCRIPT) -> None:
    for path in paths:
        full = Path(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content)


def listed(*paths: str) -> tuple[list[str], list[str]]:
    """The files, and the problems as they are shown."""
    problems: list[Problem] = []
    found = list(files(list(paths), problems))
    return found, [shown(problem) for problem in problems]


def text_of(path: str) -> Source:
    source = read_file(path)
    assert isinstance(source, Source)
    return source


def problem_of(path: str) -> str:
    problem = read_file(path)
    assert isinstance(problem, Problem)
    return shown(problem)


class TestFolders:
    def test_are_walked_in_order(self) -> None:
        write("b.sh", "a/z.yml", "a/b/c.json", "c/d.sh", "a.sh")
        assert listed(".") == (["a.sh", "b.sh", "a/z.yml", "a/b/c.json", "c/d.sh"], [])

    def test_paths_are_shown_as_they_were_given(self) -> None:
        write("a/b/c.sh")
        for given in ("a", "a/", "./a"):
            found, _ = listed(given)
            assert [os.path.normpath(path) for path in found] == ["a/b/c.sh"]
            assert found[0].startswith(given)

    @pytest.mark.parametrize(
        "name",
        [
            "compose.yml",
            "a.yaml",
            "A.YML",
            "run.sh",
            "run.bash",
            "job.sbatch",
            "job.slurm",
            "spec.json",
            "Dockerfile",
            "Dockerfile.cuda",
            "vllm.Dockerfile",
            "Containerfile",
            "Makefile",
            "justfile",
            "README.md",
            "vllm.service",
            "vllm.container",
            "serve.bat",
            "supervisord.conf",
            ".env",
            "prod.env",
            "notebook.ipynb",
            "compose.yml.example",
            "deployment.yaml.j2",
            "docker-compose.template.j2",
            "docker-compose.j2",
            "start.jinja2",
            ".a.yml",
        ],
    )
    def test_files_that_may_start_an_engine(self, name: str) -> None:
        write(name)
        assert listed(".") == ([name], [])

    @pytest.mark.parametrize(("text", "starts"), [("vllm serve m", True), ("text of vllm", False), ("", False)])
    def test_whether_a_file_starts_an_engine(self, text: str, starts: bool, tmp_path: Path) -> None:
        path = tmp_path / "run.sh"
        path.write_text(text)
        assert may_start(str(path)) is starts

    @pytest.mark.parametrize("name", ["main.rb", "notes.txt", "a.yml.orig", "envoy.rs", "model.safetensors", ".bashrc"])
    def test_files_of_another_kind(self, name: str) -> None:
        write(name)
        assert listed(".") == ([], [])

    @pytest.mark.parametrize("name", [".git", "node_modules", ".venv", "venv", "__pycache__", ".tox"])
    def test_folders_that_hold_nothing_of_the_user_s(self, name: str) -> None:
        write(f"{name}/run.sh", f"a/{name}/run.sh")
        assert listed(".") == ([], [])
        assert listed(name) == ([f"{name}/run.sh"], [])

    def test_one_without_permission(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("a/run.sh", "b/run.sh", "run.sh")
        scan = os.scandir

        def refuse(path: str) -> object:
            if path == "a":
                raise PermissionError(13, "Permission denied", path)
            return scan(path)

        monkeypatch.setattr("os.scandir", refuse)
        assert listed(".") == (["run.sh", "b/run.sh"], ["a:1:1: cannot be read: Permission denied"])


class TestNamedFiles:
    def test_are_always_taken(self) -> None:
        write("main.py", ".venv/x.sh", "notes")
        assert listed("main.py", ".venv/x.sh", "notes") == (["main.py", ".venv/x.sh", "notes"], [])

    def test_come_once(self) -> None:
        write("a/run.sh")
        assert listed("a/run.sh", "a", "./a/run.sh", "a/../a/run.sh") == (["a/run.sh"], [])

    @pytest.mark.parametrize("path", ["missing.yml", "missing/run.sh"])
    def test_one_that_is_not_there(self, path: str) -> None:
        write("run.sh")
        assert listed(path, "run.sh") == (["run.sh"], [f"{path}:1:1: cannot be read: No such file or directory"])

    def test_a_name_that_no_file_can_have(self) -> None:
        found, (problem,) = listed("a\0b")
        assert found == []
        assert problem.startswith("a\0b:1:1: cannot be read: ")


class TestLinks:
    def test_to_files_are_followed(self) -> None:
        write("real/run.sh")
        Path("link.sh").symlink_to("real/run.sh")
        assert listed(".") == (["link.sh", "real/run.sh"], [])

    def test_to_folders_are_not(self) -> None:
        write("real/run.sh")
        Path("link").symlink_to("real")
        assert listed(".") == (["real/run.sh"], [])
        assert listed("link") == (["link/run.sh"], [])

    def test_that_lead_out_of_the_project_are_noted_where_somebody_takes_notes(self) -> None:
        write("other/run.sh", "own/.git/HEAD", "own/run.sh")
        Path("own/link.sh").symlink_to("../other/run.sh")
        problems: list[Problem] = []
        notes: list[Problem] = []
        assert list(files(["own"], problems, notes=notes)) == list(files(["own"], problems)) == ["own/run.sh"]
        assert [one.path for one in notes] == ["own/link.sh"]
        assert problems == []

    def test_in_a_circle(self) -> None:
        write("a/run.sh")
        Path("a/up").symlink_to("..")
        Path("loop.sh").symlink_to("loop.sh")
        assert listed(".") == (["a/run.sh"], [])
        assert listed("loop.sh") == ([], ["loop.sh:1:1: cannot be read: Too many levels of symbolic links"])

    def test_to_nowhere(self) -> None:
        Path("gone.sh").symlink_to("missing.sh")
        assert listed(".") == ([], [])
        assert listed("gone.sh") == ([], ["gone.sh:1:1: cannot be read: No such file or directory"])


NO_FILE = "not a regular file; what a pipe or a device gives is read from standard input, as -"


class TestPipes:
    def test_are_not_waited_for(self) -> None:
        os.mkfifo("run.sh")
        assert listed(".") == ([], [])
        assert problem_of("run.sh") == f"run.sh:1:1: {NO_FILE}"

    def test_nor_devices(self) -> None:
        assert problem_of("/dev/null") == f"/dev/null:1:1: {NO_FILE}"


class TestReading:
    @pytest.mark.parametrize(
        ("data", "text", "encoding"),
        [
            (b"vllm \xc3\xa9\n", "vllm \u00e9\n", "utf-8"),
            (b"\xef\xbb\xbfvllm\r\n", "vllm\r\n", "utf-8-sig"),
            ("\ufeffvllm \u00e9\n".encode("utf-16-le"), "vllm \u00e9\n", "utf-16"),
            ("\ufeffvllm \u00e9\n".encode("utf-16-be"), "vllm \u00e9\n", "utf-16"),
        ],
        ids=["UTF-8", "byte order mark", "UTF-16 LE", "UTF-16 BE"],
    )
    def test_encodings(self, data: bytes, text: str, encoding: str) -> None:
        write("run.sh", content=data)
        source = text_of("run.sh")
        assert (source.path, source.text, source.encoding) == ("run.sh", text, encoding)

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n\n",
            b"echo hello\n",
            b"\xff\xfe",
            "\ufeffecho hello\n".encode("utf-16-le"),
            b"caf\xe9\n",  # not UTF-8, but no engine either
        ],
        ids=["empty", "blank", "no engine", "UTF-16 empty", "UTF-16 no engine", "other encoding"],
    )
    def test_what_is_none_of_our_business(self, data: bytes) -> None:
        write("run.sh", content=data)
        assert read_file("run.sh") is None

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (b"vllm serve m\n# caf\xe9\n", "run.sh:2:6: not valid UTF-8: byte 0xe9"),
            (b"\xff vllm", "run.sh:1:1: not valid UTF-8: byte 0xff"),
            (b"\xef\xbb\xbfvllm\n\xc3\xa9\xff", "run.sh:2:2: not valid UTF-8: byte 0xff"),
            (b"vllm \xe4\xb8", "run.sh:1:6: not valid UTF-8: byte 0xe4"),
            (b"\x7fELF\0\0vllm serve\0", f"run.sh:1:1: {ZERO_BYTES}"),
            ("vllm serve m\n".encode("utf-16-le"), f"run.sh:1:1: {ZERO_BYTES}"),
            ("\ufeffvllm\n".encode("utf-16-le") + b"\x00\xd8a\x00", "run.sh:2:1: not valid UTF-16: byte 0x00"),
            ("\ufeffvllm\n".encode("utf-16-le") + b"a", "run.sh:2:1: not valid UTF-16: byte 0x61"),
        ],
    )
    def test_bytes_that_are_no_text(self, data: bytes, problem: str) -> None:
        write("run.sh", content=data)
        assert problem_of("run.sh") == problem

    def test_a_file_that_goes_away(self) -> None:
        assert problem_of("run.sh") == "run.sh:1:1: cannot be read: No such file or directory"

    def test_a_folder(self) -> None:
        Path("a").mkdir()
        assert problem_of("a") == f"a:1:1: {NO_FILE}"

    def test_one_without_permission(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(path: str, flags: int) -> int:
            raise PermissionError(13, "Permission denied", path)

        write("run.sh")
        monkeypatch.setattr("os.open", refuse)
        problem = read_file("run.sh")
        monkeypatch.undo()
        assert isinstance(problem, Problem)
        assert shown(problem) == "run.sh:1:1: cannot be read: Permission denied"

    def test_bytes_without_a_file(self) -> None:
        source = decode("<stdin>", SCRIPT)
        assert isinstance(source, Source)
        assert (source.path, source.text) == ("<stdin>", "vllm serve m\n")


class TestLargeFiles:
    @pytest.fixture
    def large(self) -> Iterator[Path]:
        """A log of 50 MB that mentions no engine."""
        path = Path("large.sh")
        with path.open("wb") as file:
            for _ in range(50):
                file.write(b"# a comment line\n" * 58_824)
        yield path
        path.unlink()

    def test_one_without_an_engine_is_passed_over(self, large: Path) -> None:
        assert large.stat().st_size > 50_000_000
        assert read_file("large.sh") is None

    def test_one_with_an_engine_is_an_error(self, large: Path) -> None:
        with large.open("ab") as file:
            file.write(SCRIPT)
        assert problem_of("large.sh") == "large.sh:1:1: not read: 47.7 MiB, and servelint reads files of up to 4 MiB"

    def test_data_is_passed_over(self) -> None:
        write("results.json", content=b'{"engine": "vllm"}' + b" " * bounds.FILE.most)
        assert read_file("results.json") is None

    def test_data_that_may_start_an_engine_is_a_note(self) -> None:
        write("results.json", content=b'{"command": "vllm serve m"}' + b" " * bounds.FILE.most)
        problem = read_file("results.json")
        assert isinstance(problem, Problem)
        assert (problem.limit, problem.note) == (True, "always")
        report = check(["results.json"])
        assert (report.errors, [one.message for one in report.notes]) == ([], [problem.message])

    def test_a_binary_one_is_passed_over(self, large: Path) -> None:
        with large.open("r+b") as file:
            file.write(b"\0vllm")
        assert read_file("large.sh") is None

    def test_a_name_that_stands_on_the_border_of_what_is_read_at_once(self) -> None:
        write("run.sh", content=b"#" * ((1 << 20) - 2) + b"vllm" + b"#" * bounds.FILE.most)
        assert "not read: 5.0 MiB" in problem_of("run.sh")

    def test_the_largest_that_is_read(self) -> None:
        write("run.sh", content=SCRIPT + b"#" * (bounds.FILE.most - len(SCRIPT)))
        assert len(text_of("run.sh").text) == bounds.FILE.most


class TestAScriptThatCallsAnother:
    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("run.sh", "export MODEL=a\n./serve.sh\n"),
            ("run.sh", 'D="$(dirname "$0")"\nexport MODEL=a\nexec "$D/serve.sh"\n'),
            ("bin/run.sh", "export MODEL=a\n../serve.sh\n"),
            ("run.sh", "export MODEL=a\n./more.sh\n"),
        ],
    )
    def test_is_read(self, path: str, text: str) -> None:
        write("serve.sh", content=b'vllm serve "$MODEL"\n')
        write("more.sh", content=b"export SEED=1\n./serve.sh\n")
        write(path, content=text.encode())
        assert len(check([path]).launches) == 1

    def test_that_starts_no_engine(self) -> None:
        write("other.sh", content=b"echo a\n")
        write("run.sh", content=b"./other.sh\n./missing.sh\n")
        assert (check(["run.sh"]).launches, check(["run.sh"]).errors) == ([], [])
        write("alone.sh", "named.py", content=b"# other.sh\necho a\n")
        assert read_file("alone.sh") is None
        assert read_file("named.py") is None

    @pytest.mark.parametrize("more", [b"if true; then\n", b"# caf\xe9\n", b'echo "\n'], ids=["open", "encoding", "quote"])
    def test_what_is_wrong_with_it_is_not_reported(self, more: bytes) -> None:
        write("serve.sh", content=b"vllm serve m\n")
        write("run.sh", content=b"./serve.sh\n" + more)
        assert check(["."]).errors == []
        write("run.sh", content=b"./serve.sh # vllm\n" + more)
        assert len(check(["."]).errors) == 1
