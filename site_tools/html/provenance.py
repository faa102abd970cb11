"""One switch a page that shows, beside each bound figure, the expression it comes from.

The figures themselves carry their expression; a picture gets a list of them below.
"""

import re

SWITCH = (
    '<button type="button" class="provenance" aria-pressed="false" hidden '
    'data-search-exclude="1">{}</button>'
)
LABEL = {"zh": "显示每个数字的出处", "en": "Show where figures come from"}
BOUND = re.compile(r'<(?:span|tspan)\b[^>]*\bdata-is="')
IN_PICTURE = re.compile(r'<tspan\b[^>]*\bdata-is="([^"]*)"[^>]*>([^<]*)</tspan>')
PICTURE = re.compile(r'(?<=<figure class="picture">)(<svg\b.*?</svg>)', re.DOTALL)
BOX = re.compile(r'<section class="answer">.*?(?=</section>)', re.DOTALL)


def offer(html: str, lang: str) -> str:
    """Add the switch where a page has bound figures, hidden until a script wakes it.

    Args:
        html: A rendered page: its figures as elements, its pictures inline, its
            answer in a box. The switch stands in the box, or ends the page.
        lang: The language of the label.

    Example:
        >>> offer('<p><span class="figure" data-is="x">1</span></p>', "en")[-37:]
        'Show where figures come from</button>'
        >>> offer("<p>none</p>", "en")
        '<p>none</p>'
    """
    if not BOUND.search(html):
        return html
    html = PICTURE.sub(_listed, html)
    switch = SWITCH.format(LABEL[lang])
    box = BOX.search(html)
    end = box.end() if box else len(html)
    return f"{html[:end]}{switch}{html[end:]}"


def _listed(picture: re.Match[str]) -> str:
    figures = dict.fromkeys(IN_PICTURE.findall(picture[0]))
    items = [f"<li>{shown} = <code>{what}</code></li>" for what, shown in figures]
    if not items:
        return picture[0]
    opening = '<ul class="provenance" data-search-exclude="1">'
    return f"{picture[0]}{opening}{''.join(items)}</ul>"
