/** Checks what is typed in the editor, after each pause. Stores nothing. */
import type { CheckAnswer } from '#components/workbook/workbook-editor.tsx';
import { currentCaller } from '../../../caller.ts';
import { readText } from '../../../form-upload.ts';
import { problemInWords, problemOf } from '../../../problem.ts';
import { checkSource, MOST_EDITED_BYTES } from '../../source-check.ts';

export async function POST(request: Request): Promise<Response> {
  const answer = (body: CheckAnswer, status = 200) =>
    Response.json(body, { status, headers: { 'cache-control': 'no-store' } });
  const caller = await currentCaller();
  if (caller === null) {
    return answer({
      refusal: { says: 'You are signed out.', hint: 'Sign in in another tab: what is typed stays here.' },
    });
  }
  try {
    return answer({ check: await checkSource(caller, await readText(request, MOST_EDITED_BYTES)) });
  } catch (error) {
    const problem = problemOf(error, caller);
    return answer({ refusal: problemInWords(problem) }, problem.status === 500 ? 500 : 200);
  }
}
