/** Takes a bundle to look at, as the form on the page of shares sends it. */
import { getHost } from '#lib/host.ts';
import { hold } from '../../held.ts';
import { leadBack, leadTo, postedBy, uploadIn } from '../../posted.ts';

const PAGE = '/shares';

export async function POST(request: Request): Promise<Response> {
  const caller = await postedBy(PAGE);
  try {
    const { fileName, upload } = await uploadIn(request);
    const inspection = await getHost().operations.inspectBundle(caller, upload, request.signal);
    return leadTo(request, `${PAGE}?held=${hold(caller, { kind: 'inspection', fileName, inspection })}#inspect`);
  } catch (error) {
    return leadBack(request, caller, `${PAGE}#inspect`, error);
  }
}
