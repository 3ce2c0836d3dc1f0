/** The refusal of what a sandbox with real programs has no interpreter for. */
import { WinterdockError } from '../../base/errors.ts';

/** `what`: a language, or components. */
export function noInterpreter(id: string, what: string): WinterdockError {
  return new WinterdockError('capability', `The policy "native" of "${id}" runs programs, and no ${what}.`, {
    hint: 'Run a program with a command, or give the sandbox another policy: it holds from the next wake.',
    extra: { needs: what, policy: 'native' },
  });
}
