// Lists the calls of an assistant with the server SDK of Vapi and reads each, and where its recording is. Prints lines of JSON.
//
//     node records.mjs API_URL KEY ASSISTANT FROM UNTIL   (dates)
import { VapiClient } from '@vapi-ai/server-sdk';

const [, , environment, token, assistantId, updatedAtGt, updatedAtLt] = process.argv;
const { calls } = new VapiClient({ token, environment });
for (const { id } of await calls.list({ assistantId, updatedAtGt, updatedAtLt, limit: 100 })) {
  const record = await calls.get({ id });
  const sound = await calls.callArtifactControllerStereoRecordingDownload({ id }).withRawResponse();
  process.stdout.write(`${JSON.stringify({ record, sound: sound.rawResponse.url })}\n`);
}
