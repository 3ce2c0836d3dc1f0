/**
 * The Python program that serves components: it runs for the whole start, and blocks in a device until a call comes.
 * Each component is a module of its own; they share the interpreter.
 */
import { sourceText } from '../source-text.ts';

/** The device by which it reaches the thread's JavaScript, as bootstrap.py opens it. */
export const DEVICE = '/dev/winterdock';

/**
 * A frame is four bytes of length, then JSON. Python sends one and reads the answer: `["result", …]` is answered with
 * the next call, `["ask", name, args]` with `[value, error]`, `["log", stream, text]` and `["quiet", yes]` with `null`.
 */
export const BOOTSTRAP = sourceText(new URL('./bootstrap.py', import.meta.url));
