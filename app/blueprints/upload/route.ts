/** Makes a blueprint of an uploaded file, as the form on the page of blueprints sends it. */

import { z } from 'zod';
import { slugSchema } from '#lib/api/schema.ts';
import { parse } from '#lib/api/validate.ts';
import { getHost } from '#lib/host.ts';
import { leadBack, leadTo, postedBy, uploadIn } from '../../posted.ts';

const formSchema = z.object({ name: slugSchema });

export async function POST(request: Request): Promise<Response> {
  const caller = await postedBy('/blueprints');
  try {
    const { fields, upload } = await uploadIn(request);
    const { name } = parse(formSchema, { name: fields.name?.trim() }, 'query');
    await getHost().operations.uploadBlueprint(caller, name, upload);
    return leadTo(request, `/blueprints/${name}`);
  } catch (error) {
    return leadBack(request, caller, '/blueprints?form=upload#upload', error);
  }
}
