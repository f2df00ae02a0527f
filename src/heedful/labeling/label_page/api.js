// Requests to the server, and the name and the key that go with them.
"use strict";

export const at = (id) => document.getElementById(id);

const kept = (where, name) => { try { return where.getItem(name) ?? ""; } catch { return ""; } };
const keep = (where, name, value) => { try { where.setItem(name, value); } catch { /* a browser without storage */ } };
const GUEST = `guest ${Array.from(crypto.getRandomValues(new Uint8Array(3)), (each) => each.toString(16).padStart(2, "0")).join("")}`;

const by = at("by"), key = at("key");
by.value = kept(localStorage, "heedful.by") || GUEST;
keep(localStorage, "heedful.by", by.value); // a browser that names nobody is a person of its own
if (location.hash.startsWith("#key=")) {
  keep(sessionStorage, "heedful.key", location.hash.slice(5));
  key.value = location.hash.slice(5);
  history.replaceState(null, "", location.pathname);
}
key.value ||= kept(sessionStorage, "heedful.key");

export function person() {
  return by.value.trim() || GUEST;
}

by.addEventListener("change", () => {
  by.value = person();
  keep(localStorage, "heedful.by", by.value);
});
function takeKey() { keep(sessionStorage, "heedful.key", key.value); location.reload(); }
key.addEventListener("change", takeKey);
at("key-label").addEventListener("submit", (event) => { event.preventDefault(); takeKey(); });

export async function call(path, body = {}) {
  const headers = { "Content-Type": "application/json", ...(key.value ? { Authorization: `Bearer ${key.value}` } : {}) };
  const sent = path === "search" ? body : { by: person(), ...body };
  let reply;
  try {
    reply = await fetch(`v1/${path}`, { method: "POST", headers, body: JSON.stringify(sent) });
  } catch {
    throw new Error("The server cannot be reached. Nothing was changed; try again once heedful label runs.");
  }
  const value = await reply.json();
  if (reply.status === 401) { at("key-label").hidden = false; key.focus(); }
  if (reply.status === 504) throw new Error("No answer in time: this machine is busy. Do it again; a label that was saved is not saved twice.");
  if (!reply.ok) throw Object.assign(new Error(value.error.message), { status: reply.status });
  return value;
}
