"""The Kafka connection settings in the form that Faust hands to aiokafka."""

from __future__ import annotations

import ssl

from faust.auth import SASLCredentials, SSLCredentials

from streams.settings import Settings


def faust_credentials(settings: Settings) -> SASLCredentials | SSLCredentials | None:
    """Credentials for `broker_credentials`; None for a plain connection."""
    protocol = settings.kafka_security_protocol
    context = _ssl_context(settings) if protocol.endswith("SSL") else None
    if protocol == "SSL":
        return SSLCredentials(context)
    if protocol.startswith("SASL"):
        password = settings.kafka_sasl_password
        return SASLCredentials(
            mechanism=settings.kafka_sasl_mechanism,
            username=settings.kafka_sasl_username,
            password=password.get_secret_value() if password else None,
            ssl_context=context,
        )
    return None


def _ssl_context(settings: Settings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.kafka_ssl_ca_location)
    if settings.kafka_ssl_certificate_location:
        key_password = settings.kafka_ssl_key_password
        context.load_cert_chain(
            settings.kafka_ssl_certificate_location,
            settings.kafka_ssl_key_location,
            key_password.get_secret_value() if key_password else None,
        )
    return context
