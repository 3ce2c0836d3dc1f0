/** Inspects an uploaded bundle, for the form on the page of shares. */
import { getHost } from '#lib/host/host.ts';
import { keepFlash } from '../../flash.ts';
import { answerForm, readUpload, redirectTo } from '../../form-upload.ts';

export function POST(request: Request): Promise<Response> {
  return answerForm(request, '/shares#inspect', async (caller) => {
    const { fileName, upload } = await readUpload(request);
    const inspection = await getHost().operations.inspectBundle(caller, upload, request.signal);
    return redirectTo(
      request,
      `/shares?flash=${keepFlash(caller, { kind: 'inspection', fileName, inspection })}#inspect`,
    );
  });
}
