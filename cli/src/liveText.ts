/** Text at the end of a terminal's output that is rewritten in place. The cursor stays after the text, so the text survives Ctrl-C. */
import { clearScreenDown, cursorTo, moveCursor } from "node:readline";

export interface LiveText {
  /** @param lines  each no wider than the terminal */
  show(lines: readonly string[]): void;
  /** What is printed next begins on a new line. */
  end(): void;
}

export function liveText(stream: NodeJS.WriteStream): LiveText {
  let shown = 0;
  return {
    show(lines) {
      moveCursor(stream, 0, -Math.max(shown - 1, 0));
      cursorTo(stream, 0);
      clearScreenDown(stream);
      stream.write(lines.join("\n"));
      shown = lines.length;
    },
    end() {
      if (shown > 0) stream.write("\n");
    },
  };
}
