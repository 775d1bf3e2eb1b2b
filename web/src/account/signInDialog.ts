/** The dialog by which an operator signs in: `Account`, at the top of the page, draws it, and any view may open it. */
import { createRef } from "preact";

export const signInDialog = createRef<HTMLDialogElement>();
