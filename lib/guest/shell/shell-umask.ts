/**
 * The shell's `umask`: sets and shows the mask, which guest-files.ts applies to what a script makes. Called by
 * just-bash's interpreter as it is patched (bash-script-patches.ts).
 */

interface MaskedShell {
  state: { umask?: string };
}

export function umask({ state }: MaskedShell, args: readonly string[]) {
  const [mode, ...more] = args.filter((arg) => arg !== '-p' && arg !== '-S');
  const shown = { stdout: `${state.umask ?? '0022'}\n`, stderr: '', exitCode: 0 };
  if (mode === undefined) {
    if (!args.includes('-S')) return shown;
    const letters = (digit: string) => [...'rwx'].filter((_, at) => (Number(digit) & (4 >> at)) === 0).join('');
    const [, user = '0', group = '2', others = '2'] = state.umask ?? '0022';
    return { ...shown, stdout: `u=${letters(user)},g=${letters(group)},o=${letters(others)}\n` };
  }
  if (more.length > 0 || !/^[0-7]{1,4}$/.test(mode)) {
    const reason = /^\d+$/.test(mode) ? 'octal number out of range' : 'symbolic modes are not supported';
    return { stdout: '', stderr: `bash: umask: ${mode}: ${reason}\n`, exitCode: 1 };
  }
  state.umask = mode.padStart(4, '0');
  return { stdout: '', stderr: '', exitCode: 0 };
}
