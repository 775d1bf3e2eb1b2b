/** Resolves when the page is shown. Chrome may prerender a page that no user opens. */
export async function shown() {
  const page = globalThis.document ?? {};
  if (!("prerendering" in page && page.prerendering)) return;
  await new Promise((resolve) => page.addEventListener("prerenderingchange", resolve, { once: true }));
}
