/** The source that gives Python's `http.client` its connections: whole requests through a file, in place of sockets. */
import { sourceText } from '../source-text.ts';

/** The file, as the shell names it and network.py opens it. */
export const NETWORK_PORT = '/dev/.network';

/** Executed with the module as `client`, after its own source. */
export const NETWORK_MODULE = sourceText(new URL('./network.py', import.meta.url));
