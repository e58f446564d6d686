// node producer.js BROKER TOPIC SCHEMA FRAMING COUNT: COUNT submissions as JSON and COUNT as Avro.
// SCHEMA is RenderSubmitted.avsc, FRAMING the bytes before an Avro record as hex (docs/events.md).
"use strict";

const fs = require("node:fs");
const avro = require("avsc");
const { Kafka, logLevel } = require("kafkajs");

const [broker, topic, schema, framing, count] = process.argv.slice(2);
const type = avro.Type.forSchema(JSON.parse(fs.readFileSync(schema, "utf8")));

function submission(form, number) {
  return { tenant: "node", idempotency_key: `${form} ${number} 🧾`, content: `https://example.com/node/${number}` };
}

function record(form, number) {
  const fields = submission(form, number);
  const value =
    form === "json"
      ? Buffer.from(JSON.stringify(fields))
      : Buffer.concat([Buffer.from(framing, "hex"), type.toBuffer(fields)]); // avsc fills in the defaults
  return {
    key: `${fields.tenant}\0${fields.idempotency_key}`,
    value,
    headers: { "content-type": `application/${form}` },
  };
}

async function main() {
  const kafka = new Kafka({ clientId: "stock-node", brokers: [broker], logLevel: logLevel.ERROR });
  const producer = kafka.producer({ idempotent: true });
  await producer.connect();
  const numbers = [...Array(Number(count)).keys()];
  await producer.send({ topic, acks: -1, messages: ["json", "avro"].flatMap((form) => numbers.map((number) => record(form, number))) });
  await producer.disconnect();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
