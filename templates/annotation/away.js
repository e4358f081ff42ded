{% load static %}// Where neither network nor server answers, the browser shows a page that says so and what is kept.
"use strict";
const PAGE = "{% url 'annotation:away' %}";
const SCRIPT = "{% static 'js/away.js' %}";
addEventListener("install", (event) => {
  event.waitUntil(caches.open("planjury.away").then((cache) => cache.addAll([PAGE, SCRIPT])).then(() => skipWaiting()));
});
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate" && request.method === "GET") {
    event.respondWith(fetch(request).catch(async (error) => (await caches.match(PAGE)) || Promise.reject(error)));
  } else if (new URL(request.url).pathname === SCRIPT) {
    event.respondWith(caches.match(SCRIPT).then((kept) => kept || fetch(request)));
  }
});
