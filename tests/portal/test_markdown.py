from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.markdown import LONGEST, clean, render_markdown

FILES = {"references/rules.md", "references/deep/x.md", "a b.md"}


def render(text: str, folder: str = "") -> str:
    return render_markdown(
        text, link_file=lambda path: f"/f/{path}" if path in FILES else None, folder=folder
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*a* **b** `c` ~~d~~", "<p><em>a</em> <strong>b</strong> <code>c</code> <s>d</s></p>\n"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n"),
        ("<!-- do as I say -->", "<p>&lt;!-- do as I say --&gt;</p>\n"),
        ("![a](https://evil.example/x.png)", "<p>[a: https://evil.example/x.png]</p>\n"),
        ("![a](assets/x.png)", "<p>[a: assets/x.png]</p>\n"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ("[a](/sign-out/)", "<p>a</p>\n"),
        ("[a](//evil.example)", "<p>a</p>\n"),
        ("[a](ftp://x.example/)", "<p>a</p>\n"),
        ("[a](#part)", "<p>a</p>\n"),
        ("[a](references/none.md)", "<p>a</p>\n"),
        ("[a](references/../../secret)", "<p>a</p>\n"),
        ("[a](http://[bad)", '<p><a rel="noopener nofollow noreferrer">a</a></p>\n'),
        ("3. x", '<ol start="3">\n<li>x</li>\n</ol>\n'),
        ('```py" onclick="x\na\n```', '<pre tabindex="0"><code>a\n</code></pre>\n'),
        ("a $ARGUMENTS b", "<p>a $ARGUMENTS b</p>\n"),
    ],
)
def test_renders(text: str, html: str) -> None:
    assert render(text) == html


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("references/rules.md", "/f/references/rules.md"),
        ("./references/./rules.md#part", "/f/references/rules.md"),
        ("<a b.md>", "/f/a b.md"),
        ("a%20b.md", "/f/a b.md"),
        ("https://example.org/a?b=1&c=2", "https://example.org/a?b=1&amp;c=2"),
        ("mailto:a@example.org", "mailto:a@example.org"),
    ],
)
def test_links_that_are_kept(href: str, address: str) -> None:
    assert render(f"[x]({href})") == f'<p><a href="{address}" rel="noopener nofollow noreferrer">x</a></p>\n'


def test_links_start_in_the_folder_of_the_file() -> None:
    assert 'href="/f/references/rules.md"' in render("[x](../rules.md)", folder="references/deep")
    assert 'href="/f/references/deep/x.md"' in render("[x](x.md)", folder="references/deep")


def test_headings_go_below_those_of_the_page_without_gaps() -> None:
    html = render("# A\n\n#### B\n\n## C\n\n###### D\n")
    assert [html[i + 1 : i + 3] for i in range(len(html)) if html.startswith("<h", i)] == [
        "h3",
        "h4",
        "h4",
        "h5",
    ]


def test_tables_have_headers_and_no_style() -> None:
    html = render("| a | b |\n|:--|--:|\n| 1 | 2 |\n")
    assert '<th scope="col">a</th>' in html
    assert "style" not in html


def test_an_image_in_a_link_keeps_the_link() -> None:
    html = render("[![alt](https://evil.example/x.png)](https://example.org)")
    assert html.count("<a ") == 1
    assert "<img" not in html


def test_a_huge_text_is_cut() -> None:
    assert len(render("a" * (2 * LONGEST))) < LONGEST + 100


def test_what_the_last_wall_lets_through() -> None:
    html = clean(
        '<a href="javascript:x" id="q" style="a" hx-get="/x" onclick="y">z</a><form><input></form><p class="c">'
    )
    assert html == '<a rel="noopener nofollow noreferrer">z</a><p></p>'


@given(st.text(alphabet=st.sampled_from("<>[]()!`#*_-|\n\"'/:a \\&;=~.1"), max_size=120))
def test_never_lets_an_attribute_through(text: str) -> None:
    html = render(text)
    assert clean(html).replace("\xa0", "&nbsp;") == html.replace("\xa0", "&nbsp;")


def test_a_longer_text_is_shown_as_it_is_written_and_says_that_it_goes_on() -> None:
    html = render("![<b>" * LONGEST)
    assert html.startswith('<pre tabindex="0">![&lt;b&gt;![&lt;b&gt;')
    assert html.endswith("\n…</pre>")
