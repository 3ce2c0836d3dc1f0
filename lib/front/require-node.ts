/**
 * The first import of a process entry: ends the process, with one sentence, on a Node that cannot run the rest, and
 * keeps the debugger closed from its first moment on.
 */
import { requireSupportedNode } from '../../bin/supported-node.cjs';
import { keepDebuggerClosed } from '../base/process-signals.ts';

requireSupportedNode();
keepDebuggerClosed();
