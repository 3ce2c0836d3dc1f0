/** Makes a bucket on a server that has none. For tests; needs the keys in this process's environment. */
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

export async function makeBucket(endpoint: string, name: string): Promise<void> {
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } finally {
    client.destroy();
  }
}
