/** Makes a blueprint from an uploaded file, for the form on the page of blueprints. */
import { z } from 'zod';
import { slugSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { parse } from '#lib/http/validate.ts';
import { answerForm, readUpload, redirectTo } from '../../form-upload.ts';

const formSchema = z.object({ name: slugSchema });

export function POST(request: Request): Promise<Response> {
  return answerForm(request, '/blueprints#upload', async (caller) => {
    const { fields, upload } = await readUpload(request);
    const { name } = parse(formSchema, { name: fields.name?.trim() }, 'form');
    await getHost().operations.uploadBlueprint(caller, { name }, upload);
    return redirectTo(request, `/blueprints/${name}`);
  });
}
