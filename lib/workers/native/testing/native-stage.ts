/** Real programs for tests, over the machine's own `/usr`, and the reason why there are none. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeSettings } from '../../../base/native-settings.ts';
import { missingForNatives, type NativeBackend, nativeBackend } from '../native-backend.ts';

const settings: NativeSettings = { isOn: true, processes: 256, processors: 2 };
/** Of the range of sandboxes, and of this process and those that it starts. */
export const NATIVE_USER = Number(process.env.WB_TEST_NATIVE_USER ?? 0x7000_0000 + 200_000 + process.pid);
process.env.WB_TEST_NATIVE_USER = String(NATIVE_USER);
const ownUser = () => ({ uid: NATIVE_USER, gid: NATIVE_USER });
const HOLD_MS = 600_000;
const OTHERS_PASS = 0o711;

const missing = await missingForNatives({ settings, ownUser });

/** Whether this machine has real programs. */
export const HAS_NATIVES = missing.length === 0;

/** Says once in a file that it did not run. */
export function saysWhyNot(file: string): void {
  if (!HAS_NATIVES) process.stdout.write(`Not run: ${file}, which needs real programs: ${missing.join('; ')}.\n`);
}

/** A backend on a data folder, whose programs may pass it from then on. */
export function nativesOn(dataFolder: string): NativeBackend {
  mkdirSync(join(dataFolder, 'live'), { recursive: true });
  chmodSync(dataFolder, OTHERS_PASS);
  return nativeBackend(
    {
      settings,
      dataFolder,
      holdMs: HOLD_MS,
      rootProblem: () => null,
      root: () => ({ folder: '/', release: () => {} }),
      ownUser,
    },
    missing,
  );
}
