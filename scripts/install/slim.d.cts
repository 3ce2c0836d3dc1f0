/**
 * Takes what is dead on such a machine out of a node_modules folder. Nothing when the folder is a link, or is not
 * there.
 */
export function slim(modules: string, machine: { platform: string; arch: string }): void;
