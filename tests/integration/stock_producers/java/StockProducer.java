import java.io.File;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.message.BinaryMessageEncoder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * java -cp 'lib/*' StockProducer.java BROKER TOPIC SCHEMA FRAMING COUNT: COUNT submissions as JSON and COUNT as Avro.
 *
 * SCHEMA is RenderSubmitted.avsc. FRAMING is not needed here: Avro's own BinaryMessageEncoder writes the single-object form.
 */
public final class StockProducer {
  public static void main(String[] args) throws Exception {
    Schema schema = new Schema.Parser().parse(new File(args[2]));
    BinaryMessageEncoder<Object> encoder = new BinaryMessageEncoder<>(new GenericData(), schema);
    int count = Integer.parseInt(args[4]);
    Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "acks", "all", "enable.idempotence", true);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      for (String form : new String[] {"json", "avro"}) {
        for (int number = 0; number < count; number++) {
          String key = form + " " + number + " 🧾";
          String content = "https://example.com/java/" + number;
          byte[] value;
          if (form.equals("json")) {
            String json = "{\"tenant\": \"java\", \"idempotency_key\": \"%s\", \"content\": \"%s\"}".formatted(key, content);
            value = json.getBytes(StandardCharsets.UTF_8);
          } else {
            var record = new GenericRecordBuilder(schema).set("tenant", "java").set("idempotency_key", key).set("content", content).build();
            var out = new ByteArrayOutputStream();
            encoder.encode(record, out);
            value = out.toByteArray();
          }
          var record = new ProducerRecord<String, byte[]>(args[1], "java\0" + key, value);
          record.headers().add("content-type", ("application/" + form).getBytes(StandardCharsets.US_ASCII));
          producer.send(record).get();
        }
      }
    }
  }
}
