/** Creates elements of a page, each with an id. */

const root = document.querySelector("#root") as HTMLElement;

export function button(id: string, onclick: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  return root.appendChild(Object.assign(element, { id, textContent: id, onclick }));
}

/** Creates an output. @returns sets its text */
export function output(id: string, text: string | number = ""): (text: unknown) => void {
  const element = root.appendChild(document.createElement("output"));
  const set = (text: unknown) => {
    element.textContent = String(text);
  };
  element.id = id;
  set(text);
  return set;
}

/** Shows the outcomes of calls: how many are pending, how many have succeeded, and the error of the last failure. */
export function outcomes(): (call: Promise<void>) => void {
  const show = { underWay: output("under-way", 0), succeeded: output("succeeded", 0), error: output("error") };
  let underWay = 0;
  let succeeded = 0;
  return (call) => {
    show.underWay(++underWay);
    call
      .then(
        () => show.succeeded(++succeeded),
        (error) => show.error(error.code),
      )
      .finally(() => show.underWay(--underWay));
  };
}
