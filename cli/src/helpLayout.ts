/** How help fits the terminal: wrapped as all output (wrap.ts), and in a narrow terminal with each description below its term. */
import { styleText } from "node:util";
import { Help, type HelpConfiguration } from "commander";
import { columnsOf, wrap, wrapMessage } from "./wrap.ts";

/** Columns of a description beside its term. */
const NARROWEST = 30;

const USAGE = "Usage: ";

const besideTerm = Help.prototype.formatItem;

export const HELP_LAYOUT: HelpConfiguration = {
  showGlobalOptions: true,
  minWidthToWrap: 0,
  boxWrap: wrapMessage,
  styleTitle: (title) => styleText("bold", title, { validateStream: false }),
  styleUsage: (usage) => wrap(usage, columnsOf(process.stdout) - USAGE.length).join(`\n${" ".repeat(USAGE.length)}`),
  formatItem(term, termWidth, description, helper) {
    const { helpWidth = 0 } = helper;
    if (helpWidth - termWidth - 4 >= NARROWEST) return besideTerm.call(helper, term, termWidth, description, helper);
    return [term, ...wrap(description, helpWidth - 6).map((line) => `    ${line}`)]
      .map((line) => `  ${line}`)
      .join("\n");
  },
};
