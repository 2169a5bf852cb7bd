"""A headless Chromium that looks at report pages, and keeps what they do wrong."""
import os
import pathlib
import resource
import socket

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


CHROMEDRIVER = "/usr/bin/chromedriver"


def missing():
    """Why no browser can run here, or None."""
    if not os.path.exists(CHROMEDRIVER):
        return "no chromedriver"
    if not os.access("/dev/shm", os.W_OK | os.X_OK):
        return "a browser wants shared memory, and /dev/shm cannot be written to"
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return "a browser maps terabytes, and a limit of address space is set"
    try:
        socket.getaddrinfo("localhost", None)
    except OSError:
        return "a browser is driven over localhost, a name that leads nowhere here"
    return None


def open_browser(dark=False, width=1280, height=900):
    """A browser of that viewport; the caller quits it."""
    options = Options()
    for word in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(word)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's sandbox does not work for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    driver.execute_cdp_cmd("Network.enable", {})
    resize(driver, width, height)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    return driver


def resize(driver, width, height, phone=False):
    """The viewport itself, since windows have a least width."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})


def load(driver, path):
    """Opens a file and waits until its pictures are there."""
    driver.get(pathlib.Path(path).resolve().as_uri())
    driver.set_script_timeout(30)
    driver.execute_async_script(
        "const done = arguments[0]; Promise.all([...document.images].map((i) => i.decode().catch(() => 0))).then(() => "
        "requestAnimationFrame(() => requestAnimationFrame(() => done())));")


def complaints(driver):
    """Errors and warnings of the console."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def screenshot(driver, path, whole=True):
    """The page, or what the viewport shows of it."""
    import base64
    data = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
    pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))
