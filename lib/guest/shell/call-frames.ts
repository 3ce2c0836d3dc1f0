/**
 * The functions and files that run, innermost first: `FUNCNAME`, `BASH_LINENO`, `BASH_SOURCE`, and the builtin `caller`
 * that prints them. Called by just-bash's interpreter as it is patched (bash-language-patches.ts).
 */

/** What it takes of the interpreter's state. */
interface FrameState {
  /** Names of functions and `source`, innermost first, and `main` for a file: while a function runs. */
  funcNameStack?: string[];
  /** The lines on which they were called. */
  callLineStack?: number[];
  /** Where they are; one more at its end where the shell runs a file. */
  sourceStack?: string[];
  /** Lines on which files are sourced outside a function, innermost first: bash names them once one is called. */
  sourcedLines?: number[];
  /** How many frames are around the outermost function. */
  outerFrames?: number;
}

const SOURCE = 'source';
/** What stands at the bottom in a shell that runs a file. */
const BOTTOM = { name: 'main', line: 0 };
const USAGE_EXIT = 2;

/** A function, or a file that is sourced (`source`), begins: called on this line. */
export function enter(state: FrameState, name: string, line: number, source: string): void {
  if (name === SOURCE && (state.funcNameStack ?? []).length === 0) {
    state.sourcedLines = [line, ...(state.sourcedLines ?? [])];
  } else {
    const { names, lines } = framesOf(state);
    if (names !== state.funcNameStack) state.outerFrames = names.length;
    state.funcNameStack = [name, ...names];
    state.callLineStack = [line, ...lines];
  }
  state.sourceStack = [source, ...(state.sourceStack ?? [])];
}

/** It ends. */
export function leave(state: FrameState): void {
  const { funcNameStack = [], callLineStack = [], sourcedLines = [], sourceStack = [] } = state;
  sourceStack.shift();
  if (funcNameStack.length === 0) {
    sourcedLines.shift();
    return;
  }
  const isOver = funcNameStack.length - 1 === state.outerFrames;
  state.funcNameStack = isOver ? [] : funcNameStack.slice(1);
  state.callLineStack = isOver ? [] : callLineStack.slice(1);
}

/** All frames, whether a function runs or not. */
function framesOf({ funcNameStack = [], callLineStack = [], sourcedLines = [], sourceStack = [] }: FrameState) {
  if (funcNameStack.length > 0) return { names: funcNameStack, lines: callLineStack };
  const isFile = sourceStack.length > sourcedLines.length;
  return {
    names: [...sourcedLines.map(() => SOURCE), ...(isFile ? [BOTTOM.name] : [])],
    lines: [...sourcedLines, ...(isFile ? [BOTTOM.line] : [])],
  };
}

/** The builtin: the line and the file of a call; with a number, that many calls further out and with its function. */
export function calledFrom(state: FrameState, args: readonly string[]) {
  const { names, lines } = framesOf(state);
  const { sourceStack = [] } = state;
  const none = { stdout: '', stderr: '', exitCode: 1 };
  const [given] = args[0] === '--' ? args.slice(1) : args;
  if (names.length === 0) return none;
  if (given === undefined) return { ...none, stdout: `${lines[0]} ${sourceStack[1] ?? 'NULL'}\n`, exitCode: 0 };
  if (!/^\s*[-+]?\d+\s*$/.test(given)) {
    const what = given.startsWith('-') ? `${given.slice(0, 2)}: invalid option` : `${given}: invalid number`;
    return { ...none, stderr: `bash: caller: ${what}\ncaller: usage: caller [expr]\n`, exitCode: USAGE_EXIT };
  }
  const at = Number(given);
  const [line, name, source] = [lines[at], names[at + 1], sourceStack[at + 1]];
  if (line === undefined || name === undefined || source === undefined) return none;
  return { ...none, stdout: `${line} ${name} ${source}\n`, exitCode: 0 };
}
