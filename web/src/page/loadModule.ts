/**
 * Loads a module of the page when it is needed. A browser keeps in mind that an import has failed, and never tries again. So the files
 * are fetched first, into the browser's cache: a failure there may be repeated.
 */

/** The files of each module, as the build lists them. */
const files: Readonly<Record<string, readonly string[]>> = JSON.parse(
  document.querySelector("#module-files")?.textContent ?? "{}",
);

const fetched = new Map<string, Promise<void>>();

/**
 * @param name  of the module's file
 * @throws Error if it cannot be fetched
 */
export async function loadModule<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  const all = files[name];
  if (!all) throw new Error(`The build lists no files of ${name}.`);
  await Promise.all(all.map(fetchOnce));
  return load();
}

function fetchOnce(file: string): Promise<void> {
  const before = fetched.get(file);
  if (before) return before;
  const fetching = fetchFile(file);
  fetched.set(file, fetching);
  fetching.catch(() => fetched.delete(file));
  return fetching;
}

async function fetchFile(file: string): Promise<void> {
  const response = await fetch(file).catch(() => undefined);
  if (response?.status === 404) throw new Error("This page is older than the deployment. Reload it.");
  if (!response?.ok) throw new Error("A part of the page could not be fetched. Check your connection.");
  // Read to the end, so that the cache has the whole file.
  await response.arrayBuffer();
}
