"""One language while it is written: what is compiled of it, and what is finished."""

from collections.abc import Collection
from functools import cache
from pathlib import Path

import yaml

from site_tools.compile import navigation
from site_tools.compile.site import COMPILED, Compiler, Told
from site_tools.finish import page as finish
from site_tools.finish import tree
from site_tools.finish.article import parsed, written
from site_tools.finish.page import Finished, Site
from site_tools.run.passed import read_passed
from site_tools.source.files import read_front_matter

HOOK = Path(__file__).with_name("hook.py")


class Live:
    """The pages of a language: what is compiled, and what has been finished."""

    def __init__(self, lang: str) -> None:
        self.lang, self.root = lang, Path.cwd()
        self.compiler = Compiler(self.root, lang, Told())
        self.finished: dict[str, Finished] = {}
        self.passed = read_passed(self.root)

    def compile(self) -> None:
        """Compile all pages, and the settings for the live server."""
        self.passed = read_passed(self.root)
        self.compiler.compile(self.say)
        settings = yaml.safe_load(self.compiler.settings.read_text("utf-8"))
        settings["hooks"] = [str(HOOK)]
        text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
        if not self.settings.exists() or self.settings.read_text("utf-8") != text:
            self.settings.write_text(text, "utf-8")

    @property
    def settings(self) -> Path:
        return self.root / COMPILED / f"{self.lang}.live.yml"

    def recompile(self, paths: Collection[str]) -> None:
        """Compile the pages whose files have changed; all, if more may have."""
        own = [path for path in paths if path.startswith(f"docs/{self.lang}/")]
        elsewhere = [path for path in paths if not path.startswith("docs/")]
        if not own and not elsewhere:
            return
        finish.known.cache_clear()
        navigation.titles.cache_clear()
        try:
            if elsewhere or not all(map(self._is_only_text, own)):
                self.compile()
            else:
                for path in own:
                    self.compiler.compile_page(path, self.say)
        except (ValueError, OSError) as error:
            self.say(str(error))

    def _is_only_text(self, path: str) -> bool:
        """True if a page was there, and its front matter is as it was."""
        compiled = self.compiler.folder / path.removeprefix(f"docs/{self.lang}/")
        file = self.root / path
        if not (file.is_file() and compiled.is_file()):
            return False
        before, _ = read_front_matter(compiled.read_text("utf-8"), path)
        now, _ = read_front_matter(file.read_text("utf-8"), path)
        return all(before.get(key) == value for key, value in now.items())

    def finish(self, path: str, html: str, folder: Path) -> str:
        """One built page, finished; one that cannot be says why, and nothing else."""
        soup = parsed(html)
        verdict = self.passed.verdict_line
        site = Site(self.root, self.lang, folder, verdict=verdict)
        try:
            (self.finished[path],) = finish.finish_trees(site, {path: soup})
        except ValueError as error:
            self.say(str(error))
            article = soup.article
            assert article
            article.clear()
            article.append(soup.new_tag("pre", string=str(error)))
        return written(soup)

    def complete(self, folder: Path, name: str) -> None:
        """Write what is made of all pages: the search index, and where pages were."""
        site, pages = Site(self.root, self.lang, folder), [*self.finished.values()]
        tree.write_index(site, pages)
        try:
            tree.write_redirects(site, pages, name)
        except ValueError as error:
            self.say(f"docs/{error}")

    def say(self, what: str) -> None:
        print(f"{self.lang}: {what}", flush=True)


@cache
def live(lang: str) -> Live:
    """The one of this process, which the hook asks for as well."""
    return Live(lang)
