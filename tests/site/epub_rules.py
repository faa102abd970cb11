"""The rules of EPUB that readers depend on, held to the bytes of a file.

epubcheck, where it is there, knows more; these are what it found worth an error.
"""

import posixpath
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

CONTAINER = "META-INF/container.xml"
OPF = "{http://www.idpf.org/2007/opf}"
XHTML = "{http://www.w3.org/1999/xhtml}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
DC = "{http://purl.org/dc/elements/1.1/}"
OPS = "{http://www.idpf.org/2007/ops}"
PAGE = "application/xhtml+xml"


def epub_faults(content: bytes) -> list[str]:
    """All that breaks a rule, each in a line that names the file."""
    with zipfile.ZipFile(BytesIO(content)) as folder:
        infos = folder.infolist()
        files = {info.filename: folder.read(info) for info in infos}
    first = infos[0]
    if (first.filename, first.compress_type) != ("mimetype", zipfile.ZIP_STORED):
        return ["mimetype must come first and be stored"]
    if files["mimetype"] != b"application/epub+zip":
        return ["mimetype must say application/epub+zip"]
    trees, broken = {}, []
    for name, text in files.items():
        if name.endswith((".xhtml", ".opf", ".xml", ".svg")):
            try:
                trees[name] = ElementTree.fromstring(text)
            except ElementTree.ParseError as error:
                broken.append(f"{name}: {error}")
    return broken or [*_of_trees(files, trees)]


def _of_trees(files: dict[str, bytes], trees: dict[str, Element]) -> Iterator[str]:
    rootfile = trees[CONTAINER].find(".//{*}rootfile")
    assert rootfile is not None
    package = rootfile.attrib["full-path"]
    yield from _of_metadata(trees[package])
    home = posixpath.dirname(package)
    items = {item.get("id"): item for item in trees[package].iter(f"{OPF}item")}
    listed = [posixpath.join(home, item.attrib["href"]) for item in items.values()]
    for name, count in Counter(listed).items():
        if count > 1 or name not in files:
            yield f"{name}: listed {count} times, {name in files} that it is there"
    for name in files.keys() - {*listed, "mimetype", CONTAINER, package}:
        yield f"{name}: not listed"
    spine = [ref.get("idref") for ref in trees[package].iter(f"{OPF}itemref")]
    pages = [id_ for id_, item in items.items() if item.get("media-type") == PAGE]
    if sorted(map(str, spine)) != sorted(map(str, pages)):
        yield "the spine must have each page once"
    if [i.get("properties") for i in items.values()].count("nav") != 1:
        yield "one file must be the table of contents"
    ids = {
        name: [e.attrib["id"] for e in tree.iter() if "id" in e.attrib]
        for name, tree in trees.items()
    }
    for item in items.values():
        name = posixpath.join(home, item.attrib["href"])
        if item.get("media-type") == PAGE and name in trees:
            yield from _of_page(name, trees[name], item, ids)
        twice = [id_ for id_, n in Counter(ids.get(name, [])).items() if n > 1]
        yield from (f"{name}: the id {id_} is there twice" for id_ in twice)


def _of_metadata(package: Element) -> Iterator[str]:
    for name in ("identifier", "title", "language"):
        found = package.find(f".//{DC}{name}")
        if found is None or not (found.text or "").strip():
            yield f"dc:{name} must be there"
    modified = [
        m for m in package.iter(f"{OPF}meta") if m.get("property") == "dcterms:modified"
    ]
    if len(modified) != 1:
        yield "dcterms:modified must be there once"


def _of_page(
    name: str, tree: Element, item: Element, ids: dict[str, list[str]]
) -> Iterator[str]:
    has_math = tree.find(f".//{MATHML}math") is not None
    if has_math != ("mathml" in item.get("properties", "")):
        yield f"{name}: whether it has formulas must be said in the manifest"
    if item.get("properties") == "nav":
        kinds = [nav.get(f"{OPS}type") for nav in tree.iter(f"{XHTML}nav")]
        if kinds != ["toc"]:
            yield f"{name}: must have one nav of the type toc, got {kinds}"
    for image in tree.iter(f"{XHTML}img"):
        if not image.get("alt", "").strip():
            yield f"{name}: {image.get('src')} must have a text"
    for element in tree.iter():
        target = element.get("href") or element.get("src") or ""
        parts = urlsplit(target)
        if not target or parts.scheme:
            continue
        there = posixpath.join(posixpath.dirname(name), parts.path)
        there = there if parts.path else name
        known = there in ids or there.endswith(".css")
        if not known or (parts.fragment and parts.fragment not in ids[there]):
            yield f"{name}: {target} leads nowhere"
