/** The first import of a process entry: ends the process, with one sentence, on a Node that cannot run the rest. */
import { requireSupportedNode } from '../../bin/supported-node.cjs';

requireSupportedNode();
