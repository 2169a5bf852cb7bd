#!/usr/bin/python3
"""What `make site` builds: every link leads somewhere, the pages are whole, the search finds, and in a headless
Chromium the playground gives the bytes of `lapedge -b c` for the pixels that the browser decoded."""
import base64
import collections
import functools
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = ["tests/support", "tests/cli/report"]
import tap  # noqa: E402

LAPEDGE = os.environ.get("LAPEDGE", "./lapedge")
SITE = pathlib.Path("build/site")
SPHINX = pathlib.Path("build/site-venv/bin/sphinx-build")
MISSING = None
try:
    import browser
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    MISSING = browser.missing()
except ImportError as problem:
    MISSING = f"no {problem.name}"


def run(*words):
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


def text_of(page):
    return (SITE / page).read_text(encoding="utf-8")


def words_of(text):
    return collections.Counter(re.findall(r"[A-Za-z]{3,}", text))


def lost_words(page):
    """Words of a document that its page has fewer times; those of marks, addresses and languages do not count."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->|^```\w+$", "", text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    built = text_of("index.html" if page == "README.md" else re.sub(r"\.md$", "", page) + ".html")
    built = re.sub(r"<[^>]*?alt=\"([^\"]*)\"[^>]*>", r" \1 ", built)
    return words_of(text) - words_of(html.unescape(re.sub(r"<[^>]*>", "", built)))


def pages_are_whole():
    """Of every document a page with all of its words, of the header every name, of the manual every option, and every
    drawing."""
    problems = []
    _, pages = run("tools/figures/site", "pages")
    pages = pages.split()
    for page in pages:
        built = "index.html" if page == "README.md" else re.sub(r"\.md$", "", page) + ".html"
        if not (SITE / built).is_file():
            problems.append(f"no {built}")
    problems += [f"{page} has no page" for page in map(str, pathlib.Path("docs").glob("*.md")) if page not in pages]
    problems += [f"{page}: {word} is lost" for page in pages if page.endswith(".md") for word in lost_words(page)]
    header, names = text_of("src/lapedge.h.html"), set()
    for line in re.findall(r"^LAP_API .*", pathlib.Path("src/lapedge.h").read_text(), re.M):
        names.add(re.search(r"(\w+)\(", line)[1])
    problems += [f"the header's page has no {name}" for name in sorted(names) if f'id="c.{name}"' not in header]
    manual = text_of("docs/lapedge.1.html")
    options = set(re.findall(r"^\.It.* Fl -([a-z-]+)", pathlib.Path("docs/lapedge.1").read_text(), re.M))
    problems += [f"the manual's page has no --{name}" for name in options if f"--{name}" not in manual]
    for name in pathlib.Path("docs/img").glob("*.svg"):
        if not (SITE / "_images" / name.name).is_file():
            problems.append(f"{name} is on no page")
    if len(names) < 40 or len(options) < 60:
        problems.append(f"only {len(names)} names and {len(options)} options were looked for")
    return problems


def faults_are_found(folder):
    """A dead link, a dead anchor and something loaded from elsewhere, each planted in a page of a copy."""
    copy = pathlib.Path(folder) / "site"
    shutil.copytree(SITE, copy, copy_function=os.link)
    page = copy / "docs/json.html"
    good, problems = page.read_text(encoding="utf-8"), []
    for planted, found in (('<a href="nowhere.html">', "leads nowhere"),
                           ('<a href="folders.html#nowhere">', "no such place"),
                           ('<script src="https://example.org/x.js">', "loads https"),
                           ('<link rel="stylesheet" href="//example.org/x.css">', "loads //")):
        page.unlink(missing_ok=True)  # the copy's name alone: the file is the site's
        page.write_text(good + planted, encoding="utf-8")
        code, said = run("tools/figures/site", "check", str(copy))
        if code == 0 or found not in said:
            problems.append(f"{planted}: {code}, {said}")
    return problems


class Page:
    """The playground in a browser, and how it is used."""

    def __init__(self, driver):
        self.driver = driver

    def wait(self, condition, what):
        for _ in range(2000): # 100 s
            if self.driver.execute_script("return " + condition):
                return
            time.sleep(0.05)
        raise AssertionError(f"waited in vain for {what}: {self.text('pg-status')}")

    def text(self, name):
        return self.driver.execute_script("return document.getElementById(arguments[0]).textContent", name)

    def choose(self, name, value):
        self.driver.execute_script(
            "const [name, text] = arguments, e = document.getElementById(name);"
            "e.value = [...(e.options || [])].find((o) => o.text === text)?.value ?? text;"
            "e.dispatchEvent(new Event('input', {bubbles: true}));", "pg-" + name, value)

    def pixels(self, name):
        width, height, data = self.driver.execute_script(
            "const c = document.getElementById(arguments[0]);"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "let s = ''; for (let i = 0; i < d.length; i += 4) s += String.fromCharCode(d[i], d[i + 1], d[i + 2]);"
            "return [c.width, c.height, btoa(s)];", "pg-" + name)
        return width, height, base64.b64decode(data)

    def edges_are_right(self, **settings):
        """What the page shows for these settings is what the program makes of the same pixels."""
        for name in ("kernel", "border", "range", "backend"):
            self.choose(name, settings[name] if not settings[name].startswith("constant") else "constant:V")
        if settings["border"].startswith("constant"):
            self.choose("value", settings["border"][9:])
        width, height, photo = self.pixels("in")
        wanted = subprocess.run(
            [LAPEDGE, "-q", "-b", "c", "--format=ppm", "-", "-"] +
            [f"--{name}={settings[name]}" for name in ("kernel", "border", "range")],
            input=b"P6 %d %d 255\n" % (width, height) + photo, capture_output=True, check=True).stdout
        return self.pixels("out")[2] == wanted[-len(photo):] and len(photo) == 3 * width * height


def serve():
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


def search_finds(page, base):
    for word, expected in (("lap_compare_views", "src/lapedge.h.html"), ("replicate", "docs/lapedge.1.html")):
        page.driver.get(base + "search.html?q=" + word)
        page.wait("document.querySelectorAll('#search-results li a').length > 0", "hits")
        found = [a.get_attribute("href") for a in page.driver.find_elements("css selector", "#search-results li a")]
        if not any(expected in link for link in found):
            return f"{word}: {found}"
    return ""


def try_playground(page, base):
    driver = page.driver
    driver.get(base + "docs/playground/README.html")
    page.wait("document.getElementById('pg-sum')?.textContent", "the first edges")
    said = page.text("pg-status")
    tap.report("samples/chelsea.jpg, 451 x 300" in said, "playground: the sample is there", said)
    cases = [("c", "laplace5", "zero", "clamp"), ("simd-sse41", "log5", "wrap", "abs"),
             ("sse", "opencv5", "reflect101", "abs"), ("sse-slide", "laplace5", "constant:200", "clamp"),
             ("sse-taps", "npp5", "replicate", "clamp"), ("sse-box", "identity", "reflect", "abs")]
    names = ("backend", "kernel", "border", "range")
    wrong = [case for case in cases if not page.edges_are_right(**dict(zip(names, case)))]
    tap.report(not wrong, "playground: the edges shown are those of `lapedge -b c`", wrong)

    page.choose("kernel", "laplace5")
    driver.find_element("id", "pg-in").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.SHIFT + Keys.ARROW_LEFT)
    said = page.text("pg-place")
    tap.report("x 216, y 151:" in said, "playground: arrow keys move the window", said)
    products = [cell.text for cell in driver.find_elements("css selector", "#pg-products b")]
    total = sum(int(product.replace("\u2212", "-")) for product in products)
    said = page.text("pg-sum").replace("\u2212", "-")
    tap.report(len(products) == 25 and re.search(rf"Sum {total}[;,]", said), "playground: 25 products and their sum",
               f"{products}, {said}")

    canvas = driver.find_element("id", "pg-out")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    left = -(canvas.size["width"] // 2)  # from the middle to the left edge, which is the photo's first column
    ActionChains(driver).move_to_element(canvas).click().move_to_element_with_offset(canvas, left, 0).perform()
    before = page.text("pg-place")  # a click released what the arrows held
    beyond = len(driver.find_elements("css selector", "#pg-products td.is-beyond"))
    ActionChains(driver).click().move_by_offset(40, 0).perform()
    after = page.text("pg-place")
    tap.report(before.startswith("x 0, y 1") and beyond == 10 and before == after,
               "playground: the pointer moves the window, and a click holds it", f"{before}, {beyond}, {after}")

    page.choose("kernel", "your own")
    page.choose("own", "1 2 3")
    said = page.text("pg-problem")
    tap.report("3 numbers where 25 are needed" in said, "playground: a kernel is refused in the program's words", said)
    page.choose("kernel", "laplace5")

    driver.find_element("id", "pg-file").send_keys(str(pathlib.Path("samples/coffee.jpg").resolve()))
    page.wait("document.getElementById('pg-status').textContent.startsWith('coffee.jpg')", "a chosen photo")
    right = page.edges_are_right(backend="simd-sse41", kernel="laplace5", border="zero", range="clamp")
    tap.report(right, "playground: a chosen photo is filtered", page.text("pg-status"))

    driver.execute_script("document.getElementById('pg-clock').click()")
    rows = "document.getElementById('pg-times').tBodies[0].rows"
    page.wait(f"{rows}.length === document.getElementById('pg-backend').length &&"
              "!document.getElementById('pg-clock').disabled", "all times")
    rows = driver.execute_script(f"return [...{rows}].map((row) => [...row.cells].map((cell) => cell.textContent))")
    tap.report(all(len(row) == 6 and float(row[2]) > 0 and row[5] == "the same" for row in rows) and len(rows) >= 7,
               "playground: every backend has a time, and the same bytes", rows)

    nameless = driver.execute_script(
        "return [...document.querySelectorAll('#playground :is(input, select, textarea, button, canvas)')]"
        ".filter((e) => !e.labels?.length && !e.textContent.trim() && !e.ariaLabel).map((e) => e.outerHTML)")
    tap.report(not nameless, "playground: every control has a name", nameless)
    browser.resize(driver, 375, 800, phone=True)
    width = driver.execute_script("return document.scrollingElement.scrollWidth")
    tap.report(width <= 375, "playground: a phone shows it without scrolling sideways", width)
    browser.resize(driver, 1280, 900)


def requests_elsewhere(driver, base):
    """Addresses that pages asked for, other than the server's and those within pages."""
    asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    local = [url for url in urls if url.startswith((base, "file:"))]
    return sorted(url for url in urls if not url.startswith((base, "file:", "data:", "blob:"))), len(local)


def in_a_browser(with_playground):
    driver = browser.open_browser()
    server, base = serve()
    try:
        page = Page(driver)
        for root in (base, SITE.resolve().as_uri() + "/"):
            said = search_finds(page, root)
            tap.report(not said, f"the search finds, from {root.partition(':')[0]}", said)
        if with_playground:
            try_playground(page, base)
            driver.get((SITE / "docs/playground/README.html").resolve().as_uri())
            page.wait("document.getElementById('pg-sum')?.textContent", "the first edges from a disk")
            tap.report(page.edges_are_right(backend="sse", kernel="laplace5", border="zero", range="clamp"),
                       "playground: it works from a disk")
        elsewhere, local = requests_elsewhere(driver, base)
        tap.report(not elsewhere and local > 10, "nothing was asked for elsewhere", elsewhere)
        # Not of the pages: an icon that browsers want, the theme's search, this test's reading of a canvas.
        said = [line for line in browser.complaints(driver)
                if not re.search("favicon|Anchored content block|willReadFrequently", line)]
        tap.report(not said, "no complaints in the console", said)
    finally:
        driver.quit()
        server.shutdown()


def main():
    if not SPHINX.exists() or not shutil.which("mandoc"):
        tap.skip("the site", "no Sphinx in build/site-venv or no mandoc: run make site once")
        tap.finish()
    code, said = run("make", "-s", "site-pages")
    tap.report(code == 0, "the site is built without warnings, and every link leads somewhere", said[-3000:])
    if code:
        tap.finish()
    problems = pages_are_whole()
    tap.report(not problems, "pages, names of the header, options and pictures are all there", "\n".join(problems))
    with tempfile.TemporaryDirectory(dir="build") as folder:
        problems = faults_are_found(folder)
        tap.report(not problems, "a dead link and what is loaded from elsewhere are found", "\n".join(problems))
    with_playground = 'id="playground"' in text_of("docs/playground/README.html")
    if not with_playground:
        tap.skip("the playground in a browser", "no emscripten")
    if MISSING:
        tap.skip("the site in a browser", MISSING)
    else:
        in_a_browser(with_playground)
    tap.finish()


main()
