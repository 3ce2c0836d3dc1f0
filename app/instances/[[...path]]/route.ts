/** The registry's own address under Next: the same dispatcher as below `/api`. */
import { answerWeb } from '#lib/api/web-door.ts';
import { getHost } from '#lib/host.ts';

const answer = (request: Request): Promise<Response> => answerWeb(getHost().dispatcher, request);

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
