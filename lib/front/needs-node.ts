/** The first import of a process entry: ends a Node that cannot run the rest, in one sentence. */
import { orEnd } from '../../bin/needs-node.cjs';

orEnd();
