/** Bounds of the contract that its users may want to know before they ask. Safe for the browser. */

/** Bytes that a command may be given on its stdin; more goes into a file first. */
export const MAX_STDIN_BYTES = 16 * 1024 * 1024;
