/** Takes a bundle to look at, as the form on the page of shares sends it. */
import { getHost } from '#lib/host.ts';
import { hold } from '../../held.ts';
import { answerPosted, leadTo, uploadIn } from '../../posted.ts';

export function POST(request: Request): Promise<Response> {
  return answerPosted(request, '/shares#inspect', async (caller) => {
    const { fileName, upload } = await uploadIn(request);
    const inspection = await getHost().operations.inspectBundle(caller, upload, request.signal);
    return leadTo(request, `/shares?held=${hold(caller, { kind: 'inspection', fileName, inspection })}#inspect`);
  });
}
