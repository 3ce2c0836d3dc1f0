/** `node bare-store-client.ts ENDPOINT KEY FILE`: a bare client that sends a file to the store in one request. */
import { createReadStream, statSync } from 'node:fs';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

const [endpoint = '', Key = '', file = ''] = process.argv.slice(2);
const client = new S3Client({
  endpoint,
  region: 'us-east-1',
  forcePathStyle: true,
  requestChecksumCalculation: 'WHEN_REQUIRED',
});
const ContentLength = statSync(file).size;
await client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: createReadStream(file), ContentLength }));
client.destroy();
