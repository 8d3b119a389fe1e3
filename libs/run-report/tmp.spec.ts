import { writeFileSync } from 'node:fs';
import { renderJunit, renderReport } from './index.js';
import { sampleRun } from './testing/sample-run.js';
it('renders', async () => {
  const { run, read, calls } = await sampleRun();
  let page = '';
  for await (const part of renderReport(run, read)) page += part;
  writeFileSync('/tmp/h/report.html', page);
  let xml = '';
  for await (const part of renderJunit(run, read)) xml += part;
  writeFileSync('/tmp/h/report.xml', xml);
  console.log(calls.map((c) => c.outcome + ' ' + c.reason).join('\n'), page.length);
});
