"""An HTML page as a browser's parser reads it."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib


class Page:
    """The elements of a page in which nothing is wrong: the parser raises for what is."""

    def __init__(self, text: str) -> None:
        self.text = text
        parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
        self.root: Element = parser.parse(text)

    def all(self, selector: str, within: Element | None = None) -> list[Element]:
        """By "name", ".class", "name.class" or "#id", in the order in which they stand."""
        return list(_found(self.root if within is None else within, selector))

    def one(self, selector: str, within: Element | None = None) -> Element:
        (found,) = self.all(selector, within)
        return found

    def said(self, selector: str, within: Element | None = None) -> list[str]:
        return [said(element) for element in self.all(selector, within)]


def said(element: Element) -> str:
    """What an element says, with the spaces between its words as one."""
    return " ".join("".join(element.itertext()).split())


def _local(element: Element) -> str:
    """An element's name; those of an SVG have a namespace before it, comments none at all."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _found(root: Element, selector: str) -> Iterator[Element]:
    name, _, kind = selector.partition(".")
    for element in root.iter():
        if selector.startswith("#"):
            if element.get("id") == selector[1:]:
                yield element
        elif (not name or _local(element) == name) and (not kind or kind in element.get("class", "").split()):
            yield element
