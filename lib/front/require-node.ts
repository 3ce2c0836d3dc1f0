/**
 * The first import of a process entry: ends the process, with one sentence, on a Node that cannot run the rest, keeps
 * the debugger closed from its first moment on, and closes what it would hand on to its children.
 */
import { requireSupportedNode } from '../../bin/supported-node.cjs';
import { closeInheritedDescriptors } from '../base/inherited-descriptors.ts';
import { keepDebuggerClosed } from '../base/process-signals.ts';

requireSupportedNode();
keepDebuggerClosed();
closeInheritedDescriptors();
