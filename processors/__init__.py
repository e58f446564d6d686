"""The pure core: bytes and values in, values out. No Kafka, Faust, files, clock or asyncio."""
