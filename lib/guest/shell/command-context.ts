/**
 * What the contexts of all commands have in common. Called by just-bash's interpreter as it is patched
 * (bash-patches.ts).
 */

/** The prototype of a command's context, whose own `$stdin` tells the interpreter that the input was read. */
export const COMMAND_CONTEXT = {
  get stdin(): string {
    return (this as unknown as { $stdin(): string }).$stdin();
  },
};
