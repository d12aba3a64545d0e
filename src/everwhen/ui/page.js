// Keys: "/" asks, 1 to 9 turn the page, arrows move the slider. Nothing while somebody is typing.
document.addEventListener("keydown", (event) => {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector(".q-dialog")) return;
  const picked = at.closest && at.closest("[data-pick]");
  if (picked && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    picked.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    return;
  }
  if (at.isContentEditable || ["TEXTAREA", "SELECT"].includes(at.tagName)) return;
  if (at.tagName === "INPUT" && at.type !== "range") return;
  const slider = document.getElementById("as-of");
  if (event.key === "/") {
    event.preventDefault();
    const search = document.querySelector("#search input, input#search");
    if (search) search.focus();
    else { window.everwhenSearch = true; document.querySelector('[data-page="recall"]').click(); }
  } else if (/^[1-9]$/.test(event.key)) {
    document.querySelectorAll("[data-page]")[Number(event.key) - 1].click();
  } else if (["ArrowLeft", "ArrowRight"].includes(event.key) && slider && at !== slider && !(at.closest && at.closest("[role=combobox]"))) {
    event.preventDefault();
    slider.value = Number(slider.value) + (event.key === "ArrowRight" ? 1 : -1);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
window.everwhenTheme = () => {
  const dark = document.body.classList.contains("body--dark");
  const chosen = dark ? "light" : "dark";
  Quasar.Dark.set(!dark);
  document.cookie = `everwhen_theme=${chosen}; path=/ui; SameSite=Strict; max-age=31536000`;
};

// Addresses: a page that was turned to can be gone back to, and a reload shows the same.
window.everwhenAddress = (address, push) => {
  if (address === location.pathname + location.search) return;
  history[push ? "pushState" : "replaceState"]({}, "", address);
};
window.addEventListener("popstate", () => emitEvent("everwhen_address", location.pathname + location.search));
window.everwhenCopy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // plain HTTP from another machine has no clipboard
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
