/** Takes a bundle to look at, as the form on the page of shares sends it. */
import { getHost } from '#lib/host/host.ts';
import { hold } from '../../flash.ts';
import { answerPosted, leadTo, uploadIn } from '../../form-upload.ts';

export function POST(request: Request): Promise<Response> {
  return answerPosted(request, '/shares#inspect', async (caller) => {
    const { fileName, upload } = await uploadIn(request);
    const inspection = await getHost().operations.inspectBundle(caller, upload, request.signal);
    return leadTo(request, `/shares?held=${hold(caller, { kind: 'inspection', fileName, inspection })}#inspect`);
  });
}
