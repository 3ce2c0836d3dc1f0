/**
 * Descriptors that this process has inherited from whoever started it, and that its own children would inherit. Knows
 * nothing of those children.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC, in which Linux agrees on every architecture that Node runs on. */
const CLOSES_ON_EXEC = 0o2000000;
const LAST_OF_STDIO = 2;

/**
 * Those above stdio that a child would inherit. Everything that Node opens closes on exec, and so does what Node finds
 * at its start below the first gap; the rest was somebody else's. None where there is no /proc.
 */
function passedOn(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => descriptor > LAST_OF_STDIO && !closesOnExec(descriptor));
  } catch {
    return [];
  }
}

function closesOnExec(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = /^flags:\s+(\d+)$/m.exec(info)?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) !== 0;
  } catch {
    // It was of the look itself.
    return true;
  }
}

/** Closes them. Call it before anything else is opened by code that is not Node's, and before a child is started. */
export function closeInheritedDescriptors(): void {
  for (const descriptor of passedOn()) {
    try {
      closeSync(descriptor);
    } catch (error) {
      // A thread of Node's own had a file open for a moment, and has closed it since.
      if ((error as NodeJS.ErrnoException).code !== 'EBADF') throw error;
    }
  }
}
