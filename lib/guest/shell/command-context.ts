/**
 * What the contexts of all commands have in common, without anything that V8 would put into the old generation. Called
 * by just-bash's interpreter as it is patched (bash-patches.ts).
 */

/** The prototype of a command's context, whose own `$stdin` tells the interpreter that the input was read. */
export const COMMAND_CONTEXT = {
  get stdin(): string {
    return (this as unknown as { $stdin(): string }).$stdin();
  },
};

/** The function itself: written into a property as it stands, it would be old at once. */
export function young<T>(made: T): T {
  return made;
}
