/** Keeps the place of keyboard users: what replaces an element with the focus leaves the focus to the view. */
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

export function useFocusOnMain(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(
    () => () => {
      if (element.current?.contains(document.activeElement))
        document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
    },
    [element],
  );
}
