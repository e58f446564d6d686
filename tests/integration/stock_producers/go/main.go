// go run . BROKER TOPIC SCHEMA FRAMING COUNT: COUNT submissions as JSON and COUNT as Avro.
// SCHEMA is RenderSubmitted.avsc, FRAMING the bytes before an Avro record as hex (docs/events.md).
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/hamba/avro/v2"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What is left out takes its default in JSON; an Avro datum has every field of its schema.
type submission struct {
	Tenant         string `json:"tenant"`
	IdempotencyKey string `json:"idempotency_key"`
	Content        string `json:"content"`
}

func avroFields(s submission) map[string]any {
	return map[string]any{
		"tenant": s.Tenant, "idempotency_key": s.IdempotencyKey, "content": map[string]any{"string": s.Content},
		"format": "png", "error_correction": "m", "boost": true, "scale": nil, "size": nil, "margin": 4.0,
		"dark": map[string]any{"string": "#000000"}, "light": map[string]any{"string": "#ffffff"},
		"profile": "qr-1", "deliver": "inline", "deadline": nil, "requested_at": nil,
	}
}

func main() {
	broker, topic, schemaFile, framingHex := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	count, err := strconv.Atoi(os.Args[5])
	check(err)
	text, err := os.ReadFile(schemaFile)
	check(err)
	schema, err := avro.Parse(string(text))
	check(err)
	framing, err := hex.DecodeString(framingHex)
	check(err)

	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic))
	check(err)
	defer client.Close()
	for _, form := range []string{"json", "avro"} {
		for number := range count {
			s := submission{"go", fmt.Sprintf("%s %d 🧾", form, number), fmt.Sprintf("https://example.com/go/%d", number)}
			value, err := json.Marshal(s)
			check(err)
			if form == "avro" {
				datum, err := avro.Marshal(schema, avroFields(s))
				check(err)
				value = append(append([]byte{}, framing...), datum...)
			}
			record := &kgo.Record{
				Key:     []byte(s.Tenant + "\x00" + s.IdempotencyKey),
				Value:   value,
				Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/" + form)}},
			}
			client.Produce(context.Background(), record, func(_ *kgo.Record, err error) { check(err) })
		}
	}
	check(client.Flush(context.Background()))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
