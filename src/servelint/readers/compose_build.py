"""The image that a compose service builds: what its Dockerfile says of it."""

from __future__ import annotations

from servelint.core.launch import OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.text import Text, unknown
from servelint.engines import images
from servelint.files.siblings import Neighbours
from servelint.readers import dockerfile_stages
from servelint.readers.compose_file import RESET, File, Service, add_variables
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

Stage = dockerfile_stages.Stage
_IMAGE = "docker-image://"


class Built:
    """An image that is built here.

    image, claims, env:  as the Dockerfile says, as far as it is here; the name of the image is only a label
    entrypoint, command: of the Dockerfile; None where the base image's own hold
    """

    def __init__(self, service: Service, labelled: images.Image) -> None:
        self.stages: list[Stage] = []
        self.stage: Stage | None = None
        self.text = Text(())
        self.opened: dict[str, OpenedFile | None] = {}
        self.image = images.Image(labelled.engine, ReleaseClaim(), labelled.entrypoint)
        build = _Build(service)
        text, target = build.dockerfile(), build.get("target")
        if text is not None and (target is None or target.value is not None):
            self.text = text
            self.neighbours = build.context() or Neighbours(None)
            given = {name: variable.value for name, variable in build.args.items()}
            self.stages = dockerfile_stages.stages(text, given, build.contexts())
            self.stage = dockerfile_stages.chosen(self.stages, target.value if target is not None else None)
        found = self.stage.image if self.stage is not None else None
        if found is not None:
            entrypoint = found.entrypoint if found.engine is not None else labelled.entrypoint
            self.image = images.Image(found.engine or labelled.engine, found.claim, entrypoint)

    @property
    def claims(self) -> dict[str, ReleaseClaim]:
        return self.stage.claims if self.stage is not None else self.image.claims

    @property
    def env(self) -> dict[str, Variable]:
        return self.stage.env if self.stage is not None else {}

    @property
    def entrypoint(self) -> list[Word] | None:
        return self.stage.entrypoint.words if self.stage is not None and self.stage.entrypoint is not None else None

    @property
    def command(self) -> list[Word] | None:
        return self.stage.cmd.words if self.stage is not None and self.stage.cmd is not None else None

    def open(self, path: Text) -> OpenedFile | None:
        """A file that the Dockerfile puts into the image."""
        name = path.value
        if self.stage is None or name is None or name.startswith("-"):
            return None
        if "/" not in name and not name.endswith(".sh") and name not in self.text.flat:
            return None  # every command of a script is asked for
        if name not in self.opened:
            from servelint.readers import dockerfile_files

            self.opened[name] = dockerfile_files.opened(self.stage, self.stages, path, self.neighbours)
        return self.opened[name]


class _Build:
    """The fields of a `build`; its short form is the context alone."""

    def __init__(self, service: Service) -> None:
        self.fields: dict[str, tuple[File, Node]] = {}
        self.args: dict[str, Variable] = {}
        for file, _, node in service.layers("build"):
            if not yaml.is_mapping(node):
                self.fields["context"] = (file, node)
            for name, (_, value) in yaml.entries(node).items():
                if yaml.tag(value) == RESET:
                    self.fields.pop(name, None)
                else:
                    self.fields[name] = (file, value)
        for file, _, node in service.layers("build", "args"):
            add_variables(self.args, file, node)
        self.named: dict[str, Variable] = {}
        for file, _, node in service.layers("build", "additional_contexts"):
            add_variables(self.named, file, node)

    def get(self, name: str) -> Text | None:
        if name not in self.fields:
            return None
        file, node = self.fields[name]
        return file.text(node) if yaml.scalar(node) is not None else None

    def context(self) -> Neighbours | None:
        """The files that are built from; None if they are not here."""
        folder = self.get("context")
        value = folder.value if folder is not None else "."
        if not self.fields or value is None or "://" in value:
            return None
        file = self.fields["context"][0] if "context" in self.fields else next(iter(self.fields.values()))[0]
        return file.folder_at(value)

    def contexts(self) -> dict[str, Text]:
        """The images that `additional_contexts` gives names to; unknown for folders, and for images of other services."""
        found: dict[str, Text] = {}
        for name, variable in self.named.items():
            value = variable.value or Text(())
            image = value.flat.startswith(_IMAGE)
            found[name.lower()] = value.cut(len(_IMAGE)) if image else Text((unknown("${" + name + "}", variable.site),))
        return found

    def dockerfile(self) -> Text | None:
        """The Dockerfile; None if it is not here."""
        if "dockerfile_inline" in self.fields:
            return self.get("dockerfile_inline")
        context, name = self.context(), self.get("dockerfile")
        if context is None or (name is not None and name.value is None):
            return None
        beside = context.read(name.value if name is not None and name.value else "Dockerfile")
        return Text.at(beside, 0, len(beside.text)) if beside is not None else None
