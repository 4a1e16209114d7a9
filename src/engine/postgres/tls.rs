//! The line to the server: in the clear, encrypted, or encrypted to a server whose certificate was verified. What each
//! `sslmode` claims is what it does.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Mode;
use crate::error::{Error, Result};

/// How the line is secured.
pub struct Security(Option<Arc<ClientConfig>>);

impl Security {
    /// What `sslmode` asks for. The trusted authorities are those of the file `root`, else the system's.
    ///
    /// # Errors
    /// [`Error::Argument`] where an authority is needed and none can be read.
    pub fn new(mode: Mode, root: Option<PathBuf>) -> Result<Security> {
        if mode == Mode::Disable {
            return Ok(Security(None));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match mode {
            Mode::VerifyCa | Mode::VerifyFull => {
                let trusted = Arc::new(authorities(root)?);
                let whole = WebPkiServerVerifier::builder_with_provider(trusted, Arc::clone(&provider))
                    .build()
                    .map_err(|error| Error::Argument(format!("the trusted certificates cannot be used: {error}")))?;
                if mode == Mode::VerifyFull {
                    whole
                } else {
                    Arc::new(Lenient { provider: Arc::clone(&provider), chain: Some(whole) })
                }
            }
            _ => Arc::new(Lenient { provider: Arc::clone(&provider), chain: None }),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Internal(format!("TLS cannot be used: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Security(Some(Arc::new(config))))
    }

    /// What makes the encrypted line; none where it stays in the clear.
    pub fn connector(&self) -> Option<MakeRustlsConnect> {
        self.0.as_ref().map(|config| MakeRustlsConnect::new(ClientConfig::clone(config)))
    }
}

/// The certificates that are trusted.
fn authorities(root: Option<PathBuf>) -> Result<RootCertStore> {
    let mut trusted = RootCertStore::empty();
    let Some(path) = root else {
        let found = rustls_native_certs::load_native_certs();
        trusted.add_parsable_certificates(found.certs);
        return if trusted.is_empty() {
            Err(Error::Argument("the system has no trusted certificates: name a file with sslrootcert".to_owned()))
        } else {
            Ok(trusted)
        };
    };
    let refused = |what: String| Error::Argument(format!("sslrootcert {}: {what}", path.display()));
    let certificates = CertificateDer::pem_file_iter(&path).map_err(|error| refused(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        trusted.add(certificate).map_err(|error| refused(error.to_string()))?;
    }
    if trusted.is_empty() { Err(refused("there is no certificate in it".to_owned())) } else { Ok(trusted) }
}

/// A verifier that asks for less than the name of the server and a chain to an authority: whoever cannot sign for the certificate
/// that it shows is refused all the same.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    /// What verifies the chain, as `verify-ca` has it. Without it any certificate will do, as `prefer` and `require` have it: whoever
    /// can listen learns nothing, but who the server is stays unknown.
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
