#include "codec/exif_tags.h"

#define T(type) (1u << LAP_EXIF_##type)
#define TEXT T(ASCII)
#define INTEGER (T(SHORT) | T(LONG))

/* EXIF 2.32 (CIPA DC-008), tables 4 to 8, 12 and 13, with the texts of EXIF 3.0; TIFF 6.0; the tags of
 * Windows for titles and ratings. Omitted on purpose: pointers, 0x927C (maker's note), 0x9402 and 0x9403
 * (pressure and water depth, which reveal the altitude), 0xA40B (settings in the maker's format). */
static const lap_exif_tag tags[] = {
    {LAP_EXIF_IFD0, 0x000B, TEXT, "ProcessingSoftware"},
    {LAP_EXIF_IFD0, 0x0100, INTEGER, "ImageWidth"},
    {LAP_EXIF_IFD0, 0x0101, INTEGER, "ImageLength"},
    {LAP_EXIF_IFD0, 0x0102, T(SHORT), "BitsPerSample"},
    {LAP_EXIF_IFD0, 0x0103, T(SHORT), "Compression"},
    {LAP_EXIF_IFD0, 0x0106, T(SHORT), "PhotometricInterpretation"},
    {LAP_EXIF_IFD0, 0x010D, TEXT, "DocumentName"},
    {LAP_EXIF_IFD0, 0x010E, TEXT, "ImageDescription"},
    {LAP_EXIF_IFD0, 0x010F, TEXT, "Make"},
    {LAP_EXIF_IFD0, 0x0110, TEXT, "Model"},
    {LAP_EXIF_IFD0, 0x0112, T(SHORT), "Orientation"},
    {LAP_EXIF_IFD0, 0x0115, T(SHORT), "SamplesPerPixel"},
    {LAP_EXIF_IFD0, 0x011A, T(RATIONAL), "XResolution"},
    {LAP_EXIF_IFD0, 0x011B, T(RATIONAL), "YResolution"},
    {LAP_EXIF_IFD0, 0x011C, T(SHORT), "PlanarConfiguration"},
    {LAP_EXIF_IFD0, 0x011D, TEXT, "PageName"},
    {LAP_EXIF_IFD0, 0x0128, T(SHORT), "ResolutionUnit"},
    {LAP_EXIF_IFD0, 0x012D, T(SHORT), "TransferFunction"},
    {LAP_EXIF_IFD0, 0x0131, TEXT, "Software"},
    {LAP_EXIF_IFD0, 0x0132, TEXT, "DateTime"},
    {LAP_EXIF_IFD0, 0x013B, TEXT, "Artist"},
    {LAP_EXIF_IFD0, 0x013C, TEXT, "HostComputer"},
    {LAP_EXIF_IFD0, 0x013E, T(RATIONAL), "WhitePoint"},
    {LAP_EXIF_IFD0, 0x013F, T(RATIONAL), "PrimaryChromaticities"},
    {LAP_EXIF_IFD0, 0x0211, T(RATIONAL), "YCbCrCoefficients"},
    {LAP_EXIF_IFD0, 0x0212, T(SHORT), "YCbCrSubSampling"},
    {LAP_EXIF_IFD0, 0x0213, T(SHORT), "YCbCrPositioning"},
    {LAP_EXIF_IFD0, 0x0214, T(RATIONAL), "ReferenceBlackWhite"},
    {LAP_EXIF_IFD0, 0x4746, T(SHORT), "Rating"},
    {LAP_EXIF_IFD0, 0x4749, T(SHORT), "RatingPercent"},
    {LAP_EXIF_IFD0, 0x8298, TEXT, "Copyright"},
    {LAP_EXIF_IFD0, 0x9C9B, T(BYTE), "XPTitle"},
    {LAP_EXIF_IFD0, 0x9C9C, T(BYTE), "XPComment"},
    {LAP_EXIF_IFD0, 0x9C9D, T(BYTE), "XPAuthor"},
    {LAP_EXIF_IFD0, 0x9C9E, T(BYTE), "XPKeywords"},
    {LAP_EXIF_IFD0, 0x9C9F, T(BYTE), "XPSubject"},

    {LAP_EXIF_EXIF, 0x829A, T(RATIONAL), "ExposureTime"},
    {LAP_EXIF_EXIF, 0x829D, T(RATIONAL), "FNumber"},
    {LAP_EXIF_EXIF, 0x8822, T(SHORT), "ExposureProgram"},
    {LAP_EXIF_EXIF, 0x8824, TEXT, "SpectralSensitivity"},
    {LAP_EXIF_EXIF, 0x8827, T(SHORT), "PhotographicSensitivity"},
    {LAP_EXIF_EXIF, 0x8828, T(UNDEFINED), "OECF"},
    {LAP_EXIF_EXIF, 0x8830, T(SHORT), "SensitivityType"},
    {LAP_EXIF_EXIF, 0x8831, T(LONG), "StandardOutputSensitivity"},
    {LAP_EXIF_EXIF, 0x8832, T(LONG), "RecommendedExposureIndex"},
    {LAP_EXIF_EXIF, 0x8833, T(LONG), "ISOSpeed"},
    {LAP_EXIF_EXIF, 0x8834, T(LONG), "ISOSpeedLatitudeyyy"},
    {LAP_EXIF_EXIF, 0x8835, T(LONG), "ISOSpeedLatitudezzz"},
    {LAP_EXIF_EXIF, 0x9000, T(UNDEFINED), "ExifVersion"},
    {LAP_EXIF_EXIF, 0x9003, TEXT, "DateTimeOriginal"},
    {LAP_EXIF_EXIF, 0x9004, TEXT, "DateTimeDigitized"},
    {LAP_EXIF_EXIF, 0x9010, TEXT, "OffsetTime"},
    {LAP_EXIF_EXIF, 0x9011, TEXT, "OffsetTimeOriginal"},
    {LAP_EXIF_EXIF, 0x9012, TEXT, "OffsetTimeDigitized"},
    {LAP_EXIF_EXIF, 0x9101, T(UNDEFINED), "ComponentsConfiguration"},
    {LAP_EXIF_EXIF, 0x9102, T(RATIONAL), "CompressedBitsPerPixel"},
    {LAP_EXIF_EXIF, 0x9201, T(SRATIONAL), "ShutterSpeedValue"},
    {LAP_EXIF_EXIF, 0x9202, T(RATIONAL), "ApertureValue"},
    {LAP_EXIF_EXIF, 0x9203, T(SRATIONAL), "BrightnessValue"},
    {LAP_EXIF_EXIF, 0x9204, T(SRATIONAL), "ExposureBiasValue"},
    {LAP_EXIF_EXIF, 0x9205, T(RATIONAL), "MaxApertureValue"},
    {LAP_EXIF_EXIF, 0x9206, T(RATIONAL), "SubjectDistance"},
    {LAP_EXIF_EXIF, 0x9207, T(SHORT), "MeteringMode"},
    {LAP_EXIF_EXIF, 0x9208, T(SHORT), "LightSource"},
    {LAP_EXIF_EXIF, 0x9209, T(SHORT), "Flash"},
    {LAP_EXIF_EXIF, 0x920A, T(RATIONAL), "FocalLength"},
    {LAP_EXIF_EXIF, 0x9214, T(SHORT), "SubjectArea"},
    {LAP_EXIF_EXIF, 0x9286, T(UNDEFINED), "UserComment"},
    {LAP_EXIF_EXIF, 0x9290, TEXT, "SubSecTime"},
    {LAP_EXIF_EXIF, 0x9291, TEXT, "SubSecTimeOriginal"},
    {LAP_EXIF_EXIF, 0x9292, TEXT, "SubSecTimeDigitized"},
    {LAP_EXIF_EXIF, 0x9400, T(SRATIONAL), "Temperature"},
    {LAP_EXIF_EXIF, 0x9401, T(RATIONAL), "Humidity"},
    {LAP_EXIF_EXIF, 0x9404, T(RATIONAL), "Acceleration"},
    {LAP_EXIF_EXIF, 0x9405, T(SRATIONAL), "CameraElevationAngle"},
    {LAP_EXIF_EXIF, 0xA000, T(UNDEFINED), "FlashpixVersion"},
    {LAP_EXIF_EXIF, 0xA001, T(SHORT), "ColorSpace"},
    {LAP_EXIF_EXIF, 0xA002, INTEGER, "PixelXDimension"},
    {LAP_EXIF_EXIF, 0xA003, INTEGER, "PixelYDimension"},
    {LAP_EXIF_EXIF, 0xA004, TEXT, "RelatedSoundFile"},
    {LAP_EXIF_EXIF, 0xA20B, T(RATIONAL), "FlashEnergy"},
    {LAP_EXIF_EXIF, 0xA20C, T(UNDEFINED), "SpatialFrequencyResponse"},
    {LAP_EXIF_EXIF, 0xA20E, T(RATIONAL), "FocalPlaneXResolution"},
    {LAP_EXIF_EXIF, 0xA20F, T(RATIONAL), "FocalPlaneYResolution"},
    {LAP_EXIF_EXIF, 0xA210, T(SHORT), "FocalPlaneResolutionUnit"},
    {LAP_EXIF_EXIF, 0xA214, T(SHORT), "SubjectLocation"},
    {LAP_EXIF_EXIF, 0xA215, T(RATIONAL), "ExposureIndex"},
    {LAP_EXIF_EXIF, 0xA217, T(SHORT), "SensingMethod"},
    {LAP_EXIF_EXIF, 0xA300, T(UNDEFINED), "FileSource"},
    {LAP_EXIF_EXIF, 0xA301, T(UNDEFINED), "SceneType"},
    {LAP_EXIF_EXIF, 0xA302, T(UNDEFINED), "CFAPattern"},
    {LAP_EXIF_EXIF, 0xA401, T(SHORT), "CustomRendered"},
    {LAP_EXIF_EXIF, 0xA402, T(SHORT), "ExposureMode"},
    {LAP_EXIF_EXIF, 0xA403, T(SHORT), "WhiteBalance"},
    {LAP_EXIF_EXIF, 0xA404, T(RATIONAL), "DigitalZoomRatio"},
    {LAP_EXIF_EXIF, 0xA405, T(SHORT), "FocalLengthIn35mmFilm"},
    {LAP_EXIF_EXIF, 0xA406, T(SHORT), "SceneCaptureType"},
    {LAP_EXIF_EXIF, 0xA407, T(SHORT), "GainControl"},
    {LAP_EXIF_EXIF, 0xA408, T(SHORT), "Contrast"},
    {LAP_EXIF_EXIF, 0xA409, T(SHORT), "Saturation"},
    {LAP_EXIF_EXIF, 0xA40A, T(SHORT), "Sharpness"},
    {LAP_EXIF_EXIF, 0xA40C, T(SHORT), "SubjectDistanceRange"},
    {LAP_EXIF_EXIF, 0xA420, TEXT, "ImageUniqueID"},
    {LAP_EXIF_EXIF, 0xA430, TEXT, "CameraOwnerName"},
    {LAP_EXIF_EXIF, 0xA431, TEXT, "BodySerialNumber"},
    {LAP_EXIF_EXIF, 0xA432, T(RATIONAL), "LensSpecification"},
    {LAP_EXIF_EXIF, 0xA433, TEXT, "LensMake"},
    {LAP_EXIF_EXIF, 0xA434, TEXT, "LensModel"},
    {LAP_EXIF_EXIF, 0xA435, TEXT, "LensSerialNumber"},
    {LAP_EXIF_EXIF, 0xA436, TEXT, "ImageTitle"},
    {LAP_EXIF_EXIF, 0xA437, TEXT, "Photographer"},
    {LAP_EXIF_EXIF, 0xA438, TEXT, "ImageEditor"},
    {LAP_EXIF_EXIF, 0xA439, TEXT, "CameraFirmware"},
    {LAP_EXIF_EXIF, 0xA43A, TEXT, "RAWDevelopingSoftware"},
    {LAP_EXIF_EXIF, 0xA43B, TEXT, "ImageEditingSoftware"},
    {LAP_EXIF_EXIF, 0xA43C, TEXT, "MetadataEditingSoftware"},
    {LAP_EXIF_EXIF, 0xA460, T(SHORT), "CompositeImage"},
    {LAP_EXIF_EXIF, 0xA461, T(SHORT), "SourceImageNumberOfCompositeImage"},
    {LAP_EXIF_EXIF, 0xA462, T(UNDEFINED), "SourceExposureTimesOfCompositeImage"},
    {LAP_EXIF_EXIF, 0xA500, T(RATIONAL), "Gamma"},

    {LAP_EXIF_INTEROP, 0x0001, TEXT, "InteroperabilityIndex"},
    {LAP_EXIF_INTEROP, 0x0002, T(UNDEFINED), "InteroperabilityVersion"},
    {LAP_EXIF_INTEROP, 0x1000, TEXT, "RelatedImageFileFormat"},
    {LAP_EXIF_INTEROP, 0x1001, INTEGER, "RelatedImageWidth"},
    {LAP_EXIF_INTEROP, 0x1002, INTEGER, "RelatedImageLength"},

    {LAP_EXIF_GPS, 0x0000, T(BYTE), "GPSVersionID"},
    {LAP_EXIF_GPS, 0x0001, TEXT, "GPSLatitudeRef"},
    {LAP_EXIF_GPS, 0x0002, T(RATIONAL), "GPSLatitude"},
    {LAP_EXIF_GPS, 0x0003, TEXT, "GPSLongitudeRef"},
    {LAP_EXIF_GPS, 0x0004, T(RATIONAL), "GPSLongitude"},
    {LAP_EXIF_GPS, 0x0005, T(BYTE), "GPSAltitudeRef"},
    {LAP_EXIF_GPS, 0x0006, T(RATIONAL), "GPSAltitude"},
    {LAP_EXIF_GPS, 0x0007, T(RATIONAL), "GPSTimeStamp"},
    {LAP_EXIF_GPS, 0x0008, TEXT, "GPSSatellites"},
    {LAP_EXIF_GPS, 0x0009, TEXT, "GPSStatus"},
    {LAP_EXIF_GPS, 0x000A, TEXT, "GPSMeasureMode"},
    {LAP_EXIF_GPS, 0x000B, T(RATIONAL), "GPSDOP"},
    {LAP_EXIF_GPS, 0x000C, TEXT, "GPSSpeedRef"},
    {LAP_EXIF_GPS, 0x000D, T(RATIONAL), "GPSSpeed"},
    {LAP_EXIF_GPS, 0x000E, TEXT, "GPSTrackRef"},
    {LAP_EXIF_GPS, 0x000F, T(RATIONAL), "GPSTrack"},
    {LAP_EXIF_GPS, 0x0010, TEXT, "GPSImgDirectionRef"},
    {LAP_EXIF_GPS, 0x0011, T(RATIONAL), "GPSImgDirection"},
    {LAP_EXIF_GPS, 0x0012, TEXT, "GPSMapDatum"},
    {LAP_EXIF_GPS, 0x0013, TEXT, "GPSDestLatitudeRef"},
    {LAP_EXIF_GPS, 0x0014, T(RATIONAL), "GPSDestLatitude"},
    {LAP_EXIF_GPS, 0x0015, TEXT, "GPSDestLongitudeRef"},
    {LAP_EXIF_GPS, 0x0016, T(RATIONAL), "GPSDestLongitude"},
    {LAP_EXIF_GPS, 0x0017, TEXT, "GPSDestBearingRef"},
    {LAP_EXIF_GPS, 0x0018, T(RATIONAL), "GPSDestBearing"},
    {LAP_EXIF_GPS, 0x0019, TEXT, "GPSDestDistanceRef"},
    {LAP_EXIF_GPS, 0x001A, T(RATIONAL), "GPSDestDistance"},
    {LAP_EXIF_GPS, 0x001B, T(UNDEFINED), "GPSProcessingMethod"},
    {LAP_EXIF_GPS, 0x001C, T(UNDEFINED), "GPSAreaInformation"},
    {LAP_EXIF_GPS, 0x001D, TEXT, "GPSDateStamp"},
    {LAP_EXIF_GPS, 0x001E, T(SHORT), "GPSDifferential"},
    {LAP_EXIF_GPS, 0x001F, T(RATIONAL), "GPSHPositioningError"},
};

/* Tags that hold or point to a picture, or have a format that only the maker knows. */
static const struct picture {
    uint16_t tag;
    const char *what, *name;
} pictures[] = {
    {0x002E, "thumbnail", "JpgFromRaw"},
    {0x0111, "thumbnail", "StripOffsets"},
    {0x0117, "thumbnail", "StripByteCounts"},
    {0x0144, "thumbnail", "TileOffsets"},
    {0x0145, "thumbnail", "TileByteCounts"},
    {0x014A, "thumbnail", "SubIFDs"},
    {0x015B, "thumbnail", "JPEGTables"},
    {0x0201, "thumbnail", "JPEGInterchangeFormat"},
    {0x0202, "thumbnail", "JPEGInterchangeFormatLength"},
    {0x0207, "thumbnail", "JPEGQTables"},
    {0x0208, "thumbnail", "JPEGDCTables"},
    {0x0209, "thumbnail", "JPEGACTables"},
    {0x501B, "thumbnail", "ThumbnailData"},
    {0x927C, "maker's note", "MakerNote"},
    {0x935C, "thumbnail", "ImageSourceData"},
    {0xBCC0, "thumbnail", "ImageOffset"},
    {0xBCC1, "thumbnail", "ImageByteCount"},
    {0xC634, "maker's note", "DNGPrivateData"},
    {0xC68C, "thumbnail", "OriginalRawFileData"},
    {0xC6D2, "maker's note", "PanasonicTitle"},
    {0xC6D3, "maker's note", "PanasonicTitle2"},
};

const lap_exif_tag *lap_exif_tag_find(lap_exif_group group, uint32_t tag)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i].group == group && tags[i].tag == tag)
            return &tags[i];
    return NULL;
}

const char *lap_exif_group_name(lap_exif_group group)
{
    static const char *const names[] = {"IFD0", "Exif", "Interop", "GPS", "IFD1", "SubIFD"};
    return names[group];
}

const char *lap_exif_tag_picture(uint32_t tag, const char **name)
{
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (pictures[i].tag == tag) {
            *name = pictures[i].name;
            return pictures[i].what;
        }
    return NULL;
}
